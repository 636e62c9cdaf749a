"""Metrics, traces and logs of a running service; content only if the settings allow it."""
