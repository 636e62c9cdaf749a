"""The version, in one place. Packaging reads it from here, the manifest carries it."""

__version__ = "0.1.0"
