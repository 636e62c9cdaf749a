"""How many requests in how much time: against a definition, and over HTTP."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.service.limits.rates import RateCounter, parse_rate
from foveate.service.settings import Settings
from service_keys import by, put
from service_server import problem, serving


@given(
    amount=st.integers(1, 5),
    steps=st.lists(st.tuples(st.floats(0, 9), st.sampled_from("ab")), max_size=60),
)
def test_a_window_is_what_its_definition_says(amount, steps):
    """X4: let in exactly where fewer than so many were in the last seconds; then when it says."""
    clock = [1_000.0]
    rates = RateCounter(parse_rate(f"{amount} per 10 second"), clock=lambda: clock[0])
    let_in: dict[str, list[float]] = {"a": [], "b": []}

    for pause, caller in steps:
        clock[0] += pause
        recent = [time for time in let_in[caller] if time > clock[0] - 10]
        verdict = rates.hit(caller)
        assert (verdict == 0) is (len(recent) < amount)
        if not verdict:
            let_in[caller].append(clock[0])
        else:
            assert 1 <= verdict <= 10
            waited = clock[0] + verdict - min(recent)
            assert 10 - 1e-5 <= waited < 11 + 1e-5
    times = let_in["a"]
    assert all(b - a >= 10 for a, b in zip(times, times[amount:], strict=False))


def test_callers_that_are_gone_are_forgotten():
    """X4: memory is that of the callers of one window, however many keys there were."""
    clock = [0.0]
    rates = RateCounter(parse_rate("5 per 10 second"), clock=lambda: clock[0])

    sizes = []
    for number in range(3_000):
        clock[0] += 0.1
        rates.hit(str(number))
        sizes.append(len(rates))

    assert max(sizes) <= 101


@pytest.mark.parametrize(
    ("text", "amount", "seconds"),
    [("600/minute", 600, 60), ("5 per 2 second", 5, 2), ("9/day", 9, 86_400), ("", None, None)],
)
def test_a_rate_is_written_as_one_reads_it(text, amount, seconds):
    """X4: so many in a time; the empty text is no limit."""
    found = parse_rate(text)

    assert (found and found.amount, found and found.seconds) == (amount, seconds)


def test_a_key_that_asks_too_often_is_told_when_to_come_again(tmp_path):
    """X4: 429 with Retry-After for that key alone, whatever it asks for; health is not counted.

    Nor is who has no key, for a 429 costs what a 401 costs.
    """
    keys = tmp_path / "keys"
    busy, other = put(keys), put(keys)
    with serving(Settings(store="", keys=keys, rate="3/minute")) as client:
        found = [client.get(path, headers=by(busy)) for path in ("/a", "/healthz", "/b?c", "/d")]
        refused = [client.get("/a", headers=by(busy)) for _ in range(20)]
        others = client.get("/a", headers=by(other)), client.get("/readyz", headers=by(busy))
        without = {client.get("/v1/me").status_code for _ in range(20)}

    assert [answer.status_code for answer in found] == [404, 200, 404, 404]
    assert {answer.status_code for answer in refused} == {429}
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in refused)
    assert "3 per 1 minute" in problem(refused[0])["detail"]
    assert [answer.status_code for answer in others] == [404, 200]
    assert without == {401}
