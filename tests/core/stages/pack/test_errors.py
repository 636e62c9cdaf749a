"""The errors of a traceback or log are shown, in whatever words one asks for them."""

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
QUESTIONS = [
    "why did the import job fail last night?",
    "What went wrong?",
    "Warum ist der Lauf abgebrochen?",
    "Pourquoi est-ce que rien ne marche?",
    "Is the importer healthy?",
]
PROSE = {
    "text": "The import job runs every night and loads the parts. If it fails, Ada is told. " * 12,
    "source": "jobs.md",
    "score": 0.5,
}


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("beside", [(), (PROSE,)])
def test_the_last_error_is_there_at_120_tokens(name: str, beside: tuple[object, ...]) -> None:
    """U1: of what a log or a traceback says, alone and beside prose that has the same words."""
    text, error = WITHIN[name]
    for question in QUESTIONS:
        found = [{"text": text, "source": "night.log", "score": 0.5}, *beside]
        assert error in assemble(question, found, budget=120).text, question


@pytest.mark.parametrize("name", TRACES)
def test_frames_are_not_shown_without_their_error(name: str) -> None:
    """U1: if the question is about something else, too."""
    text, error = TRACES[name]
    shown = assemble(
        "Who wrote the step that runs?", [{"text": text, "source": "night.log"}], budget=120
    ).text

    assert error in shown


def test_an_error_that_nothing_asks_for_takes_no_room_in_a_log() -> None:
    """U1, J2: what is asked for has the budget."""
    text, error = WITHIN["a traceback, in a log"]
    question = "How long did batch 7 of worker-7 take?"
    shown = assemble(question, [{"text": text, "source": "night.log"}], budget=60).text

    assert "worker-7 batch 7 took" in shown
    assert error not in shown


ERRORS = ("crane 4 limit switch open", "tide gauge timeout", "barrier 9 stuck half open")
LAST_QUESTIONS = [
    "what is the last error in harbour.log",
    "the most recent failure",
    "latest error",
    "Welcher Fehler kam zuletzt?",
    "quelle est la derni\u00e8re erreur ?",
    "\u00bfCu\u00e1l es el error m\u00e1s reciente?",
]


FIRST_QUESTIONS = [
    "What was the first error in harbour.log?",
    "the earliest failure",
    "When did an error first occur?",
    "Was war der erste Fehler?",
    "Welcher Fehler kam zuerst?",
    "quelle est la premi\u00e8re erreur ?",
    "\u00bfCu\u00e1l es el primer error?",
]


def harbour_log(level: str = "ERROR", calm: str = "INFO") -> list[str]:
    """Chunks of a log; each of the first three has an error, and the last is calm."""
    entries = [f"2024-05-01 {n // 60:02}:{n % 60:02}:00 {calm} boat {n} moored" for n in range(120)]
    for at, error in zip((20, 50, 80), ERRORS, strict=True):
        entries[at] = entries[at][:20] + f"{level} gate: {error}"
    return ["\n".join(entries[n : n + 30]) for n in range(0, 120, 30)]


def chunks_of(texts: list[str], *, with_starts: bool) -> list[dict[str, object]]:
    """The later, the lower the score, with `start` or with `sequence` alone."""
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    return [
        {"text": text, "source": "harbour.log", "score": 1 / (n + 1), "sequence": n}
        | ({"start": starts[n], "end": starts[n] + len(text)} if with_starts else {})
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("question", "shown", "other"),
    [
        *((question, 2, 0) for question in LAST_QUESTIONS),
        *((question, 0, 2) for question in FIRST_QUESTIONS),
    ],
)
@pytest.mark.parametrize("with_starts", [True, False])
def test_the_asked_error_of_all_chunks_comes_first(
    question: str, shown: int, other: int, with_starts: bool
) -> None:
    """U1: by where the chunks stand in their document, whatever their scores and their order."""
    chunks = chunks_of(harbour_log(), with_starts=with_starts)
    text = assemble(question, [chunks[2], chunks[0], chunks[3], chunks[1]], budget=60).text

    assert ERRORS[shown] in text
    assert ERRORS[other] not in text


def repeated_errors(many: int) -> str:
    """A log with an error that comes so many times in a row, each with its number."""
    entries = [f"2026-03-02T06:{n:02}:00Z INFO [api] heartbeat ok seq={n}" for n in range(40)]
    for n in range(many):
        at = f"2026-03-02T06:{20 + n}:00Z"
        entries[20 + n] = f"{at} ERROR [db] refused by 10.0.4.17:5432 (attempt {n + 1})"
    return "\n".join(entries)


@pytest.mark.parametrize("budget", [80, 120, 200])
def test_the_first_of_errors_that_differ_in_a_number_is_shown(budget: int) -> None:
    """U1: that the next one says the same again is no reason to leave it out."""
    found = [{"text": repeated_errors(2), "source": "app.log", "score": 0.9}]

    assert "(attempt 1)" in assemble("What was the first error?", found, budget=budget).text


@pytest.mark.parametrize(
    "question", ["Which errors happened in the log?", "list all failures", "Welche Fehler gab es?"]
)
def test_all_errors_are_shown_if_the_question_is_about_all(question: str) -> None:
    """U1: entries at different times are different errors, though their words are the same."""
    found = [{"text": repeated_errors(5), "source": "app.log", "score": 0.9}]

    shown = assemble(question, found, budget=300).text

    assert all(f"(attempt {n})" in shown for n in range(1, 6))


def test_last_night_asks_for_no_last_error() -> None:
    """U1: then the words of the question choose among the errors."""
    chunks = chunks_of(harbour_log(), with_starts=True)

    assert ERRORS[0] in assemble("Why did the crane fail last night?", chunks, budget=60).text


def test_an_entry_behind_the_last_traceback_is_the_last_error() -> None:
    """U1: if the question is about the last one; else a traceback says more."""
    text = log(FIRST) + "\n2024-03-01 03:00:00,000 ERROR worker-4 gave up\n"
    found = [{"text": text, "source": "night.log"}]

    assert "worker-4 gave up" in assemble("What is the last error?", found, budget=60).text
    assert "KeyError: 'sku'" in assemble("Why did the job crash?", found, budget=120).text


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
    """U1: in the forms of web servers, logfmt, systems and phones."""
    chunks = chunks_of(harbour_log(level, calm), with_starts=True)

    assert ERRORS[2] in assemble("the latest error", chunks, budget=70).text
