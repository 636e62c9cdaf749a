"""What comes back from a model: its markers resolved, its claims held against the context."""
