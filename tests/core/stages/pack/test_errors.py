"""The errors of a traceback or log are found by their words, as any entry is."""

from __future__ import annotations

import pytest

from foveate.pipeline.assembler import assemble

OTHERS = "/usr/lib/python3.11/site-packages"


def python_trace(frames: int, error: str) -> str:
    """A traceback in which the user's frames stand around those of packages."""
    packages = "".join(
        f'  File "{OTHERS}/queue/step{n}.py", line {n}, in step_{n}\n    self.run_{n}(rows)\n'
        for n in range(frames)
    )
    return (
        'Traceback (most recent call last):\n  File "/srv/mill.py", line 12, in <module>\n'
        f'    main()\n{packages}  File "/srv/weir.py", line 88, in load_rows\n'
        f"    row = parse(line, strict=True)\n{error}\n"
    )


def log(trace: str) -> str:
    """An entry with the traceback among others."""
    entries = [
        f"2024-03-01 02:{n:02}:00,123 INFO worker-{n} batch {n} took 9 ms" for n in range(60)
    ]
    entries.insert(
        31, "2024-03-01 02:30:30,200 ERROR worker-3 nightly task crashed\n" + trace.strip()
    )
    return "\n".join(entries)


JAVA = (
    'Exception in thread "main" java.lang.IllegalStateException: cannot open the feed\n'
    + "".join(f"\tat org.apache.camel.Step{n}.go(Step{n}.java:{n})\n" for n in range(40))
    + "\tat com.mill.Feed.open(Feed.java:77)\n"
    "Caused by: java.net.ConnectException: Connection refused: feeds.example:8443\n"
    + "".join(f"\tat java.net.Socket{n}.open(Socket.java:{n})\n" for n in range(10))
    + "\tat com.mill.Feed.connect(Feed.java:31)\n\t... 12 more\n"
)
NODE = (
    "TypeError: Cannot read properties of undefined (reading 'sku')\n"
    + "".join(f"    at next{n} (/srv/node_modules/express/lib/r{n}.js:{n}:3)\n" for n in range(30))
    + "    at importRows (/srv/jobs/import.js:55:9)\n"
)
FIRST, LAST = (
    python_trace(8, "KeyError: 'sku'"),
    python_trace(9, "mill.RowsFailed: row 4711 is bad"),
)
CHAIN = f"{FIRST}\nDuring handling of the above exception, another exception occurred:\n\n{LAST}"
VIOLATION = "psycopg.errors.UniqueViolation: the key 'parts' is there"
TRACES = {
    "a traceback": (python_trace(12, "ValueError: bad date 31.02."), "ValueError: bad date 31.02."),
    "many frames": (python_trace(40, VIOLATION), VIOLATION),
    "two errors": (CHAIN, "mill.RowsFailed: row 4711 is bad"),
    "Java": (JAVA, "Caused by: java.net.ConnectException: Connection refused"),
    "no cause": (JAVA.partition("Caused")[0], 'Exception in thread "main" java.lang.Illegal'),
    "no thread": (JAVA.partition('"main" ')[2], "Caused by: java.net.ConnectException"),
    "JavaScript": (NODE, "TypeError: Cannot read properties of undefined"),
}
WITHIN = {
    **TRACES,
    **{f"{name}, in a log": (log(trace), error) for name, (trace, error) in TRACES.items()},
    "two in a log": (log(FIRST) + "\n" + log(CHAIN), "mill.RowsFailed: row 4711 is bad"),
    "an entry": (
        log("").replace("INFO worker-50 batch", "FATAL worker-50 lost batch"),
        "FATAL worker-50 lost batch 50",
    ),
}
PROSE = {
    "text": "The import job runs every night and loads the parts. If it stops, Ada is told. " * 12,
    "source": "jobs.md",
    "score": 0.5,
}


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("beside", [(), (PROSE,)])
def test_an_error_is_found_by_its_words(name: str, beside: tuple[object, ...]) -> None:
    """U1: in a log or a traceback of many lines, alone and beside prose."""
    text, error = WITHIN[name]
    found = [{"text": text, "source": "night.log", "score": 0.5}, *beside]

    assert error in assemble(f"What does this mean: {error}", found, budget=120).text


def test_an_error_that_nothing_asks_for_takes_no_room_in_a_log() -> None:
    """U1, J2: what is asked for has the budget."""
    text, error = WITHIN["a traceback, in a log"]
    question = "How long did batch 7 of worker-7 take?"
    shown = assemble(question, [{"text": text, "source": "night.log"}], budget=60).text

    assert "worker-7 batch 7 took" in shown
    assert error not in shown
