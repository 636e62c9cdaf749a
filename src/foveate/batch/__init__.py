"""Answers many requests: lines of JSON Lines files, in partitions.

`requests.answer_line` is a pure function, which engines map over slices; `run` writes the answers
in order. The same partitions give the same bytes on every engine.
"""
