"""Limits on requests, as ASGI layers; `service/guard.py` has their order."""
