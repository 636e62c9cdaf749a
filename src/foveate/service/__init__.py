"""The HTTP service: many tenants, one process or several.

`app.py` wires it and `run.py` starts it. Names of a request become values in `request_options.py`,
errors become problems in `problems.py`, CPU work runs in `worker_pool.py`, and `app_state.py` has
all that is open. `auth/ring.py` checks the key of a request, `mcp/tools.py` declares the tools for
agents, and `observe/metrics.py` names the metrics.
"""
