"""Measures contexts: cases ─▶ run ─▶ rows ─▶ summary ─▶ report (tables, JSON, plot), gate."""
