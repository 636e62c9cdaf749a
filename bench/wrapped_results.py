"""Whether the thing that is asked for is found in a tool result, whatever it is written in.

    python -m bench.wrapped_results

A result of 400 lines or records of nine shapes comes plain, as the `stdout` of a command, in blocks
of MCP, and as JSON in JSON; with and without other lines that say "failed"; for three questions,
each about one record. `compact` fits a list around it, `expand` is asked for its handle, `assemble`
gets it as the only candidate. The table has the share of questions whose answer is shown.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from foveate import BudgetTooSmall, assemble, compact, expand

BUDGETS = (300, 800, 2_000)
RECORDS = 400
ASKED = (41, 203, 377)
BOATS = ("Heron", "Tern", "Plover", "Dunlin", "Avocet")


class Case(NamedTuple):
    """A result, what is asked of it, and what the answer holds."""

    shape: str
    wrapping: str
    noise: bool
    text: str
    question: str
    answer: str


def state(n: int, *, noise: bool) -> str:
    """What a record says of itself; a third of them an error, if there is noise."""
    return "failed: mooring denied" if noise and n % 3 == 0 else "open"


def total(n: int) -> int:
    """A number that only record n has."""
    return 50_000 + 37 * n


def records(*, noise: bool) -> list[dict[str, object]]:
    """Records of berths."""
    return [
        {
            "id": f"BK-{7000 + n}",
            "boat": f"{BOATS[n % 5]} {n}",
            "state": state(n, noise=noise),
            "total": total(n),
        }
        for n in range(RECORDS)
    ]


def as_log(*, noise: bool) -> str:
    """A line for each record."""
    return "\n".join(
        f"2026-05-01T10:{n // 60:02}:{n % 60:02}Z {'ERROR' if noise and n % 3 == 0 else 'INFO'} "
        f"booking {r['id']} {r['state']} total={r['total']} boat={r['boat']}"
        for n, r in enumerate(records(noise=noise))
    )


def as_traceback(n: int, *, noise: bool) -> str:
    """A log in which one entry has a traceback, whose exception is asked for."""
    lines = as_log(noise=noise).split("\n")
    lines[n] = lines[n].replace(" INFO ", " ERROR ") + (
        "\nTraceback (most recent call last):\n"
        f'  File "/app/dispatch/assign.py", line {n}, in assign\n'
        "    self.bus.publish(topic, record)\n"
        '  File "/app/dispatch/bus.py", line 58, in publish\n'
        "    raise BusUnavailable(str(exc)) from exc\n"
        f"dispatch.bus.BusUnavailable: certificate of dock {total(n)} has expired"
    )
    return "\n".join(lines)


def as_code(*, noise: bool) -> str:
    """Methods, of which each returns its own number."""
    return "class Harbour:\n" + "\n".join(
        f"    def berth_{n:03}(self, boat: str) -> int:\n"
        f'        """{"The last booking failed." if noise and n % 3 == 0 else "A free berth."}"""\n'
        f"        self.moor(boat)\n        return {total(n)}\n"
        for n in range(RECORDS // 4)
    )


def plain(*, noise: bool) -> Iterator[tuple[str, str, str, str]]:
    """Each shape with its text, a question and its answer."""
    rows = records(noise=noise)
    written: dict[str, str] = {
        "json": json.dumps(rows),
        "json lines": "\n".join(map(json.dumps, rows)),
        "csv": "\n".join(["id,boat,state,total", *(",".join(map(str, r.values())) for r in rows)]),
        "log": as_log(noise=noise),
        "xml": "<bookings>\n"
        + "\n".join(
            "<booking>" + "".join(f"<{k}>{v}</{k}>" for k, v in r.items()) + "</booking>"
            for r in rows
        )
        + "\n</bookings>",
        "html": "<table><tr><th>id</th><th>boat</th><th>state</th><th>total</th></tr>\n"
        + "\n".join("<tr>" + "".join(f"<td>{v}</td>" for v in r.values()) + "</tr>" for r in rows)
        + "\n</table>",
        "yaml": "bookings:\n"
        + "\n".join(
            "\n".join(f"{'  - ' if k == 'id' else '    '}{k}: {v}" for k, v in r.items())
            for r in rows
        ),
    }
    for n in ASKED:
        for shape, text in written.items():
            yield shape, text, f"What is the total of BK-{7000 + n}?", str(total(n))
        trace = as_traceback(n, noise=noise)
        yield "traceback", trace, f"Why did booking BK-{7000 + n} end?", f"dock {total(n)} has"
        m = n // 4
        yield "code", as_code(noise=noise), f"What does berth_{m:03} return?", f"return {total(m)}"


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "stdout": lambda text: json.dumps({"exit_code": 0, "stdout": text, "stderr": ""}),
    "mcp": lambda text: json.dumps([{"type": "text", "text": text}]),
    "json in json": lambda text: json.dumps({"result": json.dumps({"status": 200, "body": text})}),
}


def cases() -> Iterator[Case]:
    """Every shape in every wrapping, with noise and without."""
    for noise in (False, True):
        for shape, text, question, answer in plain(noise=noise):
            for name, wrap in WRAPPINGS.items():
                yield Case(shape, name, noise, wrap(text), question, answer)


def found(case: Case, budget: int) -> dict[str, bool]:
    """By way, whether the answer is shown."""
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    made = compact(
        [
            {"role": "user", "content": case.question},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": case.text},
        ],
        budget=budget,
    )
    [handle] = made.originals
    shown = expand(handle, made.originals, query=case.question, budget=budget)
    return {
        "compact": case.answer in made.messages[-1]["content"],
        "expand": case.answer in shown,
        "assemble": case.answer in _assembled(case, budget),
    }


def _assembled(case: Case, budget: int) -> str:
    try:
        return assemble(case.question, [{"text": case.text, "score": 0.6}], budget=budget).text
    except BudgetTooSmall:
        return ""


def main() -> None:
    """Print the shares by shape and wrapping, and in all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="", help="one shape alone")
    only = parser.parse_args().shape
    shares: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    missed = list[str]()
    for case in cases():
        for budget in BUDGETS if case.shape.startswith(only) else ():
            for way, is_shown in found(case, budget).items():
                shares[way, f"{case.shape} {case.wrapping}"].append(is_shown)
                shares[way, "all"].append(is_shown)
                if not is_shown:
                    missed.append(f"{way} {case.shape} {case.wrapping} {case.noise} {budget}")
    for (way, what), each in sorted(shares.items()):
        print(f"{way:9} {what:24} {sum(each):4} of {len(each)}")
    print(*missed, sep="\n")


if __name__ == "__main__":
    main()
