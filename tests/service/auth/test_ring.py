"""The keys of a running service: always those of the file, and nobody where it is not well."""

from __future__ import annotations

import os
import string
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadInput, ExternalError
from foveate.service.auth.keys import KEY_PATTERN, generate_key, key_digest, read_keys, utc_now
from foveate.service.auth.ring import KeyRing, _file_stamp
from service_keys import put, take


def test_a_key_is_found_by_all_of_it(tmp_path):
    """X4: the whole key and nothing near it: no other secret, no other id, no blank around it."""
    path = tmp_path / "keys"
    token, other = put(path), put(path)
    ring = KeyRing(path)
    near = [
        token[:-1] + ("a" if token[-1] != "a" else "b"),
        token[:13] + other[13:],
        token.upper(),
        f" {token}",
        f"{token}\n",
        token[:-1],
        "",
        "fov_",
        token.replace("fov_", "fow_"),
        read_keys(path)[0].digest,
        "\ud800",
    ]

    assert ring.find(token) == read_keys(path)[0]
    assert ring.find(other) == read_keys(path)[1]
    assert [ring.find(wrong) for wrong in near] == [None] * len(near)


def test_every_refusal_is_one_comparison(tmp_path):
    """X4, X5: unknown id, wrong secret, revoked, expired, malformed: the same work for each."""
    path = tmp_path / "keys"
    good = put(path)
    gone = put(path)
    late = put(path, created=utc_now() - timedelta(days=2), expires=utc_now() - timedelta(days=1))
    take(path, gone)
    ring = KeyRing(path)
    sent = [good, good[:-2] + "xy", generate_key()[1], gone, late, "Bearer", "fov_" + "z" * 8, ""]
    work = []
    for token in sent:
        before = ring.comparisons
        ring.find(token)
        work.append(ring.comparisons - before)

    assert work == [1] * len(sent)
    assert [ring.find(token) is not None for token in sent] == [True] + [False] * 7


def test_changes_of_the_file_count_at_once(tmp_path):
    """X4: what is added or revoked counts with the next request; many changes in one tick too."""
    path = tmp_path / "keys"
    first = put(path)
    ring = KeyRing(path)
    found = []
    for _ in range(20):
        token = put(path)
        found.append(ring.find(token) is not None)
        take(path, token)
        found.append(ring.find(token) is None)

    assert all(found)
    assert ring.find(first) is not None


@pytest.mark.parametrize("ticked", [True, False])
def test_a_change_that_looks_the_same_counts(tmp_path, ticked):
    """X4: written over in place, of the same size and time, and where no clock ticked meanwhile."""
    path = tmp_path / "keys"
    token = put(path)
    ring = KeyRing(path)
    status = path.stat()
    data = path.read_bytes()
    digest = key_digest(token)
    path.write_bytes(data.replace(digest.encode(), digest[::-1].encode()))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    if not ticked:
        ring._stamp = _file_stamp(path.stat())  # as where the file system's clock is coarse

    assert path.stat().st_size == len(data)
    assert ring.find(token) is None


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-5]),
        lambda path: path.write_bytes(b"{}\n"),
        lambda path: path.chmod(0o666),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), os.mkfifo(path)),
    ],
    ids=["gone", "emptied", "cut off", "no key", "open to all", "a folder", "a pipe"],
)
def test_a_file_that_is_not_well_lets_nobody_in(tmp_path, harm):
    """X4: keys stay in use whatever becomes of their file, and come back with it."""
    path = tmp_path / "keys"
    token = put(path)
    whole = path.read_bytes()
    ring = KeyRing(path)
    before = ring.find(token)
    harm(path)
    after = ring.in_use, _accepts(ring, token)
    path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
    path.write_bytes(whole)
    path.chmod(0o600)

    assert before is not None
    assert after == (True, False)
    assert ring.find(token) == before
    assert ring.fault is None


def _accepts(ring: KeyRing, token: str) -> bool:
    try:
        return ring.find(token) is not None
    except ExternalError:
        return False


def test_without_a_file_there_are_no_keys_until_there_is_one(tmp_path):
    """X4: a service that started without keys asks for them from the moment there are some."""
    path = tmp_path / "keys"
    ring = KeyRing(path)
    before = ring.in_use
    token = put(path)
    during = ring.in_use, ring.find(token) is not None
    path.unlink()

    assert before is False
    assert during == (True, True)
    assert ring.in_use is True
    assert not _accepts(ring, token)


def test_a_service_does_not_start_with_a_damaged_file(tmp_path):
    """X4: what is wrong is said at the start, and that is the end of it."""
    path = tmp_path / "keys"
    path.write_bytes(b"{}\n")
    path.chmod(0o600)

    with pytest.raises(BadInput, match="line 1 is damaged"):
        KeyRing(path)


def test_a_key_ends_at_its_time(tmp_path):
    """X4: a key counts until the second that it expires, and no longer."""
    path = tmp_path / "keys"
    start = utc_now()
    token = put(path, expires=start + timedelta(hours=1))
    clock = [start.timestamp()]
    ring = KeyRing(path, clock=lambda: clock[0])
    seen = []
    for seconds in (0, 3599, 3600, 9999):
        clock[0] = start.timestamp() + seconds
        seen.append(ring.find(token) is not None)

    assert seen == [True, True, False, False]


@given(data=st.data())
def test_damage_never_makes_a_key(data, tmp_path_factory):
    """X4: whatever byte of the file is changed, only what has the kept hash is let in."""
    path = tmp_path_factory.mktemp("keys") / "keys"
    token = put(path)
    whole = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        ring = KeyRing(path)
    except BadInput:
        return
    found = ring.find(token)

    assert found is None or found.digest == key_digest(token)
    assert ring.find(generate_key()[1]) is None
    assert ring.in_use


def test_keys_are_drawn_from_all_of_the_space():
    """X4: 256 bits in 43 digits and letters; ids and secrets do not repeat, none is taken."""
    drawn = [generate_key() for _ in range(2_000)]
    secrets = [token.rpartition("_")[2] for _, token in drawn]

    assert all(KEY_PATTERN.fullmatch(token)[1] == number for number, token in drawn)
    assert len(set(secrets)) == len(secrets)
    assert set("".join(s[1:] for s in secrets)) == set(string.digits + string.ascii_letters)
    assert 62**43 > 2**256
