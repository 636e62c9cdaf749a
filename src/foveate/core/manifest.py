"""Hashes that make a context replayable (written next)."""


class Manifest:
    """Placeholder for the type checker until the module is written."""
