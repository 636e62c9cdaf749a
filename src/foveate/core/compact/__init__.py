"""Message lists of agents: a list in, a list of the same kind out that fits a budget.

`entries.py` reads a list into entries and groups, `forms.py` knows the providers' spellings,
`values.py` finds what must not be lost, `shorten.py` shortens a tool result, `packing.py` decides
what stays, `quotes.py`, `ledger.py` and `ledger_text.py` write what left, and `compaction.py` puts
them together and counts the result.
"""
