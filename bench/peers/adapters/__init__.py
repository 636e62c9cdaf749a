"""One file a family of systems; `registry.py` lists them, `job.py` says what an adapter is."""
