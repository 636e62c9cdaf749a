"""How good a context is, as numbers: cases, measures, runs, comparisons, reports. Asks no model.

cases ─▶ run ─▶ rows ─▶ summary ─▶ report (tables, JSON, plot), gate
"""
