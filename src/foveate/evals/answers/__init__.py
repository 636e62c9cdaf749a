"""What a model answers from the contexts of an evaluation (SPEC E1)."""
