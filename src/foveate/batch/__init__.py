"""Answers many requests: the lines of a JSON Lines file.

`requests.answer_line` is a pure function, which engines map over slices; `run` writes the answers
in order. The same requests give the same bytes on every engine.
"""
