"""The lines of a log that say an error."""

from __future__ import annotations

import pytest

from foveate.core.compact.quotes import error_lines


@pytest.mark.parametrize(
    ("level", "calm"),
    [
        ("[error]", "[info]"),
        ("[core:crit]", "[core:notice]"),
        ("level=error", "level=info"),
        ("quay[41]: failed to close", "quay[41]:"),
        ("E Gate:", "I Gate:"),
        ("ERROR", "INFO 0 ERROR so far:"),
    ],
)
def test_an_error_is_known_by_its_level_or_its_words(level: str, calm: str) -> None:
    """A4: in the forms of web servers, logfmt, systems and phones."""
    lines = [f"2024-05-01 10:{n:02}:00 {calm} boat {n} moored" for n in range(40)]
    lines[20] = f"2024-05-01 10:20:00 {level} gate: barrier 9 stuck half open"
    text = "\n".join(lines)

    assert [text[a:b] for a, b in error_lines(text)] == [lines[20]]
