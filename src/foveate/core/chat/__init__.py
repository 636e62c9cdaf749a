"""Conversations and sessions: requests that fit, and that stay cacheable from turn to turn.

`turns.py` has the values, `history.py` fits messages by `core/compact/`, `zones.py` and
`request_state.py` share the window, `request.py` builds a request, `document_block.py` and
`next_turn.py` the turn of a session, and `writers.py` spells messages for the providers. A model's
summary comes in as a value, like every other reading.
"""
