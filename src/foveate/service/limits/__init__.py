"""Limits on requests and connections, as ASGI layers; `service/guard.py` has their order."""
