"""Conversation: turns as values, history that fits its zone, and requests that stay cacheable.

Pure like the rest of the core. A model's summary comes in as a value, like every other reading.
"""
