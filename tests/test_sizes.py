"""Every room of the house stays under its ceiling, and a ceiling that is passed is told."""

from __future__ import annotations

from collections import Counter

from tools import sizes


def test_every_room_is_under_its_ceiling(capsys):
    """K2: rooms, folders, files and functions; pyproject.toml has the ceilings."""
    assert sizes.main() == 0, capsys.readouterr().err


def test_a_room_over_its_ceiling_is_named(monkeypatch, capsys):
    """So is a folder that has none: whoever adds a room writes down how large it may be."""
    rooms, folders = sizes.ceilings()
    fewer = {room: 10 if room == "cli" else most for room, most in rooms.items() if room != "evals"}
    monkeypatch.setattr(sizes, "ceilings", lambda: (fewer, folders))

    assert sizes.main() == 1
    told = capsys.readouterr().err.splitlines()
    assert [line.split(" has ")[0] for line in told] == ["cli", "evals"]


def test_a_file_counts_in_the_innermost_room():
    """No line counts twice, and the files of the package itself are in the room of `.`."""
    places = {"core/stages/dedup/near.py": 1, "core/types.py": 2, "ports.py": 4, "new/a.py": 8}
    lines = {sizes.SOURCE / place: count for place, count in places.items()}
    found = sizes.room_lines(lines, {"core": 9, "core/stages": 9, "pipeline + .": 9})

    assert found == Counter({"core": 2, "core/stages": 1, "pipeline + .": 4, "new": 8})
