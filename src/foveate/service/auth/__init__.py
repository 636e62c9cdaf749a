"""API keys, and the caller of a request."""
