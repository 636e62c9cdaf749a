"""A model's answers from the contexts of an evaluation (SPEC E1)."""
