"""Many requests, in partitions: a line each, or a row of a Parquet file each, contexts in order.

`requests.answer` is a pure function of a line; `slices` are what an engine maps it over, `run` puts
the answers where they belong. The same partitions give the same bytes on every engine.
"""

from foveate.batch.requests import BatchAnswer, answer_line, answer_lines

__all__ = ["BatchAnswer", "answer_line", "answer_lines"]
