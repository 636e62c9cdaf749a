"""Everything that the service's own description says is asked of it, and every answer held to it.

Seeded and bounded; `make schema` goes on for longer.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from service_keyed import CONFIG, keyed

EXAMPLES = 3
LIGHTER = {
    "include-name": ["POST /v1/ask", "POST /v1/check-answer"],
    "phases": {
        "coverage": {"enabled": False},
        "fuzzing": {"generation": {"max-examples": 20}},
    },
}
"""Of these, most fields are those of `assemble`, where each is tried."""


def test_every_answer_is_as_described(tmp_path: Path) -> None:
    """F3, X1, X4: no 5xx, every status, header and body in the schema, wrong requests refused.

    And no operation that needs a key answers without one, or with a wrong one.
    """
    # here, for they take half a second of each process
    from schemathesis import openapi
    from schemathesis.config import SchemathesisConfig
    from schemathesis.engine import events, from_schema

    settled = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    settled["generation"] |= {"max-examples": EXAMPLES, "deterministic": True}
    settled["operations"] = [LIGHTER]
    with keyed(tmp_path) as found:
        host, port = found.service.address
        headers = {"Authorization": f"Bearer {found.key}"}
        config = SchemathesisConfig.from_dict({**settled, "seed": 1, "headers": headers})
        schema = openapi.from_url(f"http://{host}:{port}/openapi.json", config=config)
        tried, wrong = Counter[str](), list[str]()
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                tried[event.phase.value] += len(event.recorder.cases)
                wrong += failures(event)
            elif isinstance(event, events.NonFatalError | events.FatalError):
                wrong.append(str(event))
        said = found.service.said()

    assert not wrong, "\n\n".join(wrong)
    assert tried["coverage"] > 500
    assert tried["fuzzing"] > 10
    assert "Traceback" not in said


def failures(event: Any) -> list[str]:
    """What did not hold in a finished scenario, with the request that shows it."""
    from schemathesis.engine import Status

    return [
        f"{event.label}: {check.name}: {check.failure_info.failure}: "
        f"{event.recorder.cases[case].value.as_curl_command()}"
        for case, checks in event.recorder.checks.items()
        for check in checks
        if check.status == Status.FAILURE and check.failure_info is not None
    ]
