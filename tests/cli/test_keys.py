"""`foveate keys`: made and shown once, listed without secrets, revoked; and their file."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from stat import S_IMODE

import pytest

from foveate.service.auth.keys import KEY_PATTERN, SCOPES, edit_keys, key_digest, read_keys
from source_tree import PACKAGE

FILE = "foveate-keys.jsonl"


def add(run, *words):
    """A key for searching, unless told otherwise."""
    return run("keys", "add", "--scope", "search", *words)


def test_a_key_is_printed_once_and_kept_as_a_hash(run, tmp_path):
    """X4: the whole key is the only output; the file and the list hold neither it nor its end."""
    said = add(run, "--name", "probe", "--principal", "staff")
    token = said.out.rstrip("\n")
    listed = run("keys", "list"), run("keys", "list", "--json")

    assert KEY_PATTERN.fullmatch(token)
    assert said.err == ""
    secret = token.rpartition("_")[2]
    for text in ((tmp_path / FILE).read_text(), *(ran.out + ran.err for ran in listed)):
        assert secret not in text
        assert secret[-4:] not in text
    (kept,) = read_keys(tmp_path / FILE)
    assert kept.digest == key_digest(token)
    assert key_digest(token) not in listed[0].out + listed[1].out


def test_a_list_without_keys_says_so(run, tmp_path):
    """F2: where there is no key, the list says which file was looked at and how one is made."""
    missing = run("keys", "list")
    (tmp_path / FILE).touch(0o600)
    empty = run("keys", "list")
    record = run("keys", "list", "--json")

    assert (missing.code, missing.out) == (0, "")
    assert missing.err == f"foveate: no keys in {FILE}; `foveate keys add` makes one\n"
    assert (empty.code, empty.out, empty.err) == (0, "", missing.err)
    assert (record.json, record.err) == ({"keys": []}, "")


def test_everything_that_is_asked_for_is_kept(run):
    """X4, F2: tenant, principals, scopes, name and end come back from the list, each once."""
    asked = ["--tenant", "acme", "--principal", "b", "--principal", "a", "--principal", "b"]
    asked += [word for scope in SCOPES for word in ("--scope", scope)]
    made = add(run, *asked, "--name", "Office", "--expires", "30d", "--json").json
    (listed,) = run("keys", "list", "--json").json["keys"]

    token = made.pop("key")
    assert made == listed
    assert token.startswith(f"fov_{listed['id']}_")
    assert (listed["tenant"], listed["principals"], listed["scopes"], listed["name"]) == (
        "acme",
        ["a", "b"],
        sorted(SCOPES),
        "Office",
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", listed["expires"])
    assert listed["revoked"] is None


def test_the_file_is_its_owners_alone(run, tmp_path):
    """X4: a new file has mode 0600; a later change keeps a mode that the owner has set."""
    add(run)
    first = S_IMODE((tmp_path / FILE).stat().st_mode)
    (tmp_path / FILE).chmod(0o640)
    add(run)

    assert first == 0o600
    assert S_IMODE((tmp_path / FILE).stat().st_mode) == 0o640
    assert len(read_keys(tmp_path / FILE)) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["add"], "no scope given; add --scope S, once for each: assemble, search"),
        (["add", "--scope", "everything"], "scope 'everything': must be one of assemble"),
        (["add", "--scope", "ask", "--tenant", "../b"], "tenant '../b': must be 1 to 63 of"),
        (["add", "--scope", "ask", "--tenant", "a" * 64], "must be 1 to 63 of"),
        (["add", "--scope", "ask", "--tenant", "a\n"], "must be 1 to 63 of"),
        (["add", "--scope", "ask", "--principal", ""], "principal '': must be 1 to 200 printable"),
        (["add", "--scope", "ask", "--name", "a\tb"], "name 'a\\tb': must be 1 to 200 printable"),
        (["add", "--scope", "ask", "--expires", "soon"], "give a number of days (90d) or a time"),
        (["add", "--scope", "ask", "--expires", "0d"], "has passed; give a time to come"),
        (["add", "--scope", "ask", "--expires", "2001-01-01"], "has passed"),
        (["add", "--scope", "ask", "--expires", "99999d", "--name", " "], "name ' ': must be"),
        (["revoke", "abcd1234"], "unknown key 'abcd1234'"),
    ],
)
def test_wrong_usage_is_refused_and_leaves_no_file(run, tmp_path, words, says):
    """X4, F2, X1: exit code 2, one line that says what is allowed, nothing written."""
    ran = run("keys", *words)

    assert ran.code == 2
    assert says in ran.complaint
    assert not (tmp_path / FILE).exists()


def test_a_revoked_key_stays_in_the_list_without_its_hash(run, tmp_path):
    """X4: revoking twice is no error and keeps the first time; unknown ids change nothing."""
    number = add(run, "--json").json["id"]
    other = add(run, "--json").json["id"]
    refused = run("keys", "revoke", number, "nosuchid")
    untouched = read_keys(tmp_path / FILE)
    said = run("keys", "revoke", number)
    (again,) = run("keys", "revoke", number, "--json").json["keys"]
    first, second = read_keys(tmp_path / FILE)

    assert refused.code == 2
    assert "nosuchid" in refused.complaint
    assert [key.revoked for key in untouched] == [None, None]
    assert said.out == f"{number} revoked\n"
    assert (first.id, first.digest, second.id, second.revoked) == (number, "", other, None)
    assert again["revoked"] is not None
    assert "revoked" in run("keys", "list").out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: [*lines[:1], "{", *lines[2:]], "line 2 is damaged: not JSON"),
        (lambda lines: [*lines, lines[0]], "line 4 is damaged: the id"),
        (lambda lines: [lines[0].replace('"search"', '"root"'), *lines[1:]], "scope 'root'"),
        (lambda lines: [lines[0].replace('"tenant": "default"', '"tenant": 3')], "'tenant'"),
        (lambda lines: [lines[0].replace('"expires": null', '"expires": "2027"')], "line 1 is"),
        (lambda lines: [lines[0].replace("}", ', "more": 1}')], "and no others"),
        (lambda lines: [lines[0].replace('"revoked": null, ', "")], "and no others"),
        (lambda lines: [re.sub(r'"blake3": "\w', '"blake3": "G', lines[0])], "hexadecimal"),
        (lambda lines: ["[]"], "line 1 is damaged: it must be an object"),
        (lambda lines: [lines[0].replace('"id": "', '"id": ["x"], "id": "')], "comes twice"),
        (lambda lines: ["", *lines], "line 1 is damaged"),
    ],
)
def test_a_damaged_file_is_refused_by_its_line(run, tmp_path, change, says):
    """X4, I3: exit code 3 for each command, the line is named, and the file stays as it was."""
    for _ in range(3):
        add(run)
    path = tmp_path / FILE
    lines = change(path.read_text().splitlines())
    path.write_text("".join(f"{line}\n" for line in lines))
    before = path.read_bytes()
    ran = [add(run), run("keys", "list"), run("keys", "revoke", "abcd1234")]

    assert [one.code for one in ran] == [3, 3, 3]
    assert all(says in one.complaint for one in ran)
    assert path.read_bytes() == before


def test_a_file_that_was_cut_off_or_opened_to_others_is_refused(run, tmp_path):
    """X4: neither a half line nor a file that others may write to is taken for keys."""
    add(run)
    path = tmp_path / FILE
    path.chmod(0o602)
    opened = run("keys", "list")
    path.chmod(0o620)
    shared = run("keys", "list")
    path.chmod(0o640)
    readable = run("keys", "list")
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-9])
    cut = run("keys", "list")

    assert (opened.code, shared.code, readable.code, cut.code) == (3, 3, 0, 3)
    assert "chmod 600" in opened.complaint
    assert opened.complaint == shared.complaint
    assert "the last line is cut off" in cut.complaint


def test_two_that_add_at_once_lose_nothing(tmp_path):
    """X4, T5: changes wait for each other, in threads and in processes of their own."""
    path = tmp_path / FILE
    command = [sys.executable, "-m", "foveate", "keys", "add", "--scope", "ask", "--keys", path]

    def by_program(_: int) -> str:
        env = {"PYTHONPATH": str(PACKAGE.parent)}
        return subprocess.run(command, check=True, env=env, capture_output=True, text=True).stdout

    def by_call(_: int) -> None:
        with edit_keys(path) as held:
            held.reverse()

    with ThreadPoolExecutor(4) as pool:
        tokens = pool.map(by_program, range(3))
        turned = list(pool.map(by_call, range(40)))
        made = {key_digest(token.rstrip("\n")) for token in tokens}

    assert {key.digest for key in read_keys(path)} == made
    assert (len(made), len(turned)) == (3, 40)
    assert not list(tmp_path.glob("*.part"))


def test_a_disk_that_takes_no_more_leaves_the_file_as_it_was(tmp_path):
    """X4, T5: exit code 5, no key is shown, and the keys that were there still are."""
    path = tmp_path / FILE
    program = (
        "import resource, sys; from foveate.cli import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400)) if len(sys.argv) > 2 else None;"
        "sys.exit(main(['keys', 'add', '--scope', 'ask', '--keys', sys.argv[1]]))"
    )

    def start(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, path, *more],
            env={"PYTHONPATH": str(PACKAGE.parent)},
            capture_output=True,
            text=True,
            check=False,
        )

    first = start()
    before = path.read_bytes()
    second = start("full")

    assert first.returncode == 0
    assert (second.returncode, second.stdout) == (5, "")
    assert "nothing was changed" in second.stderr
    assert path.read_bytes() == before


def test_the_file_may_be_named_by_the_environment(run, tmp_path, monkeypatch):
    """X4, F2: FOVEATE_SERVE_KEYS is the service's own setting, so both look at one file."""
    monkeypatch.setenv("FOVEATE_SERVE_KEYS", "else.jsonl")
    add(run)

    assert [key.scopes for key in read_keys(Path("else.jsonl"))] == [("search",)]
    assert not (tmp_path / FILE).exists()


def served(folder: Path, *words: str) -> tuple[int, str]:
    """`foveate serve` as a process of its own, as it sets up logging for good: code, last line."""
    done = subprocess.run(
        [sys.executable, "-m", "foveate", "serve", "--store", "", *words],
        cwd=folder,
        env={"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_no_service_starts_with_a_damaged_file_of_keys(tmp_path):
    """X4, F2: exit code 3 and the line, on this machine too."""
    (tmp_path / FILE).write_text("{}\n")
    (tmp_path / FILE).chmod(0o600)
    code, said = served(tmp_path)

    assert code == 3
    assert said.count("\n") == 1
    assert "line 1 is damaged" in said


def test_a_key_for_a_tenant_without_a_store_is_not_made(run, tmp_path, monkeypatch):
    """X4, X5: neither where a file of settings says that there is one store, nor otherwise."""
    (tmp_path / "one.toml").write_text('store = "data"\nkeys = "one.jsonl"\n')
    (tmp_path / "many.toml").write_text('store = "data/{tenant}"\nkeys = "many.jsonl"\n')
    refused = [add(run, "--tenant", "acme", "--settings", "one.toml")]
    made = [
        add(run, "--tenant", "acme", "--settings", "many.toml"),
        add(run, "--settings", "one.toml"),
        add(run, "--tenant", "acme", "--settings", "many.toml", "--keys", "own.jsonl"),
    ]
    monkeypatch.setenv("FOVEATE_SERVE_STORE", "data")
    refused.append(add(run, "--tenant", "acme"))
    tenants = {
        name: [key.tenant for key in read_keys(tmp_path / name)]
        for name in ("one.jsonl", "many.jsonl", "own.jsonl", FILE)
    }

    assert [ran.code for ran in (*refused, *made)] == [2, 2, 0, 0, 0]
    assert "put {tenant} into its setting store" in refused[0].complaint
    assert tenants == {"one.jsonl": ["default"], "many.jsonl": ["acme"], "own.jsonl": ["acme"],
                       FILE: []}  # fmt: skip
