"""How well a model at hand reads each part of its context (SPEC E6)."""
