"""What a request may be, and how much of it: one rule a file, each a plain ASGI layer.

The order in which they stand, and why, is in `service/guard.py`.
"""
