"""The HTTP service: many tenants, one process or several. `app.py` wires it, `run.py` starts it.

Rules: names of a request become values in `door.py` alone, from closed lists; what goes wrong is
said by `problems.py` alone; CPU work goes through `work.py`; what is held open is in `held.py`.
"""
