"""How many requests in how much time: against a definition, and over HTTP."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.service.auth.caller import Caller, client_identity
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
    rates = RateCounter(clock=lambda: clock[0])
    limit = parse_rate(f"{amount} per 10 second")
    let_in: dict[str, list[float]] = {"a": [], "b": []}

    for pause, caller in steps:
        clock[0] += pause
        recent = [time for time in let_in[caller] if time > clock[0] - 10]
        verdict = rates.hit(limit, "key", caller)
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
    """X4: memory is that of the callers of one window, however many addresses there were."""
    clock = [0.0]
    rates, limit = RateCounter(clock=lambda: clock[0]), parse_rate("5 per 10 second")

    sizes = []
    for number in range(3_000):
        clock[0] += 0.1
        rates.hit(limit, "key", str(number))
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
    """X4: 429 with Retry-After for that key alone, whatever it asks for; health is not counted."""
    keys = tmp_path / "keys"
    busy, other = put(keys), put(keys)
    with serving(Settings(store="", keys=keys, rate="3/minute", rate_unknown="")) as client:
        found = [client.get(path, headers=by(busy)) for path in ("/a", "/healthz", "/b?c", "/d")]
        refused = [client.get("/a", headers=by(busy)) for _ in range(20)]
        others = client.get("/a", headers=by(other)), client.get("/readyz", headers=by(busy))

    assert [answer.status_code for answer in found] == [404, 200, 404, 404]
    assert {answer.status_code for answer in refused} == {429}
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in refused)
    assert "3 per 1 minute" in problem(refused[0])["detail"]
    assert [answer.status_code for answer in others] == [404, 200]


def test_whoever_has_no_key_is_counted_by_address(tmp_path):
    """X4: trying keys is slow, for nobody who has one; a forged address changes nothing."""
    keys = tmp_path / "keys"
    token = put(keys)
    with serving(Settings(store="", keys=keys, rate_unknown="4/hour")) as client:
        tried = [
            client.get("/v1/me", headers={**by("fov_x"), "X-Forwarded-For": f"203.0.113.{n}"})
            for n in range(6)
        ]
        known = client.get("/nowhere", headers=by(token))

    assert [answer.status_code for answer in tried] == [401] * 4 + [429] * 2
    assert int(tried[-1].headers["retry-after"]) > 3_000
    assert known.status_code == 404


@pytest.mark.parametrize(
    ("proxies", "seen"),
    [
        (("127.0.0.1",), 3),
        (("127.0.0.0/8", "192.0.2.1"), 3),
        (("192.0.2.1",), 1),
        ((), 1),
    ],
)
def test_forwarded_addresses_count_from_settled_proxies_only(tmp_path, proxies, seen):
    """X4: the last address that no settled proxy added is the caller's; what it claims is not."""
    keys = tmp_path / "keys"
    put(keys)
    settings = Settings(store="", keys=keys, proxies=proxies, rate_unknown="1/hour")
    with serving(settings) as client:
        found = [
            client.get("/v1/me", headers={"X-Forwarded-For": f"198.51.100.{n % 9}, {real}"})
            for n, real in enumerate(["203.0.113.1", "203.0.113.2", "203.0.113.3"] * 3)
        ]

    assert [answer.status_code for answer in found].count(401) == seen


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (("203.0.113.9", 5), "203.0.113.9"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1:2::"),
        (("::ffff:203.0.113.9", 5), "203.0.113.9"),
        (("evil", 5), "unknown"),
        (None, "unknown"),
    ],
)
def test_addresses_are_counted_by_who_has_them(client, name):
    """X4: a version 6 network is one caller; what is no address is one too."""
    assert client_identity({"state": {"caller": None}, "client": client}) == ("address", name)


def test_keys_are_counted_by_their_id():
    """X4: wherever a key's requests come from, they are the key's."""
    caller = Caller(key_id="abcd1234", tenant="a", principals=(), scopes=frozenset())
    found = [
        client_identity({"state": {"caller": caller}, "client": (f"10.0.0.{n}", 1)})
        for n in range(3)
    ]

    assert set(found) == {("key", "abcd1234")}
