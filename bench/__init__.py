"""Benchmarks: scripts and their parts, run from the root of the repository with `python -m`."""
