"""What is asked of a model, and what comes back: prompts, messages, markers resolved, claims held.

`messages` for a client of one's own, `ask` for a model by name, `check_answer` for what it said.
"""
