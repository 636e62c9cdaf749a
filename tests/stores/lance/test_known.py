from __future__ import annotations

from foveate.stores.lance.contents import TokenCounts
from foveate.stores.lance.location import parse_location


def test_counts_are_written_again_a_few_times_alone(tmp_path):
    """T2: files of a size are joined when they are many, and larger ones are left as they are."""
    known = TokenCounts(parse_location(f"lance:{tmp_path}", None))
    for number in range(100):
        known.add([("a", {f"{number}-{i}": number for i in range(3)})])
    rows = [one.physical_rows for one in known._dataset.get_fragments()]
    assert sum(rows) == 300
    assert len(rows) < 32
    assert 32 <= max(rows) <= 96
    wanted = [f"{number}-0" for number in range(100)]
    assert known.get("a", wanted) == {name: n for n, name in enumerate(wanted)}
    files = (tmp_path / "known.lance" / "data").glob("*.lance")
    assert 0 < known.bytes() <= sum(one.stat().st_size for one in files)
