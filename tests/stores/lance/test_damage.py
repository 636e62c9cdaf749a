from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random

from foveate.core.errors import ExternalError
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores import open_store


def test_a_text_is_held_to_its_hash(tmp_path: Path):
    """X6: Lance compares no file with a digest; texts that are shown are those put."""
    random = Random(1)
    words = ["".join(random.choices("abcdefghijklmnop", k=9)) for _ in range(300)]
    texts = [" ".join(random.choices(words, k=100)) for _ in range(60)]
    chunks = [
        Chunk(text=text, id=str(number), document_id="d", source="d", sequence=number)
        for number, text in enumerate(texts)
    ]
    document = Document(id="d", source="d", text="\n".join(texts))
    with closing(open_store(f"lance:{tmp_path}")) as store:
        store.put(document, chunks, None)
    stored = (path for path in tmp_path.rglob("*.lance") if path.is_file())
    path = max(stored, key=lambda path: path.stat().st_size)
    data, errors = path.read_bytes(), 0
    for _ in range(30):
        damaged = bytearray(data)
        damaged[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(damaged)
        try:
            with closing(open_store(f"lance:{tmp_path}", create=False)) as store:
                found = store.search(words[0], None).candidates
                near = store.neighbours([("d", 5)], 9)
                whole = store.document("d")
        except ExternalError:
            errors += 1
            continue
        for chunk in (*(one.chunk for one in found), *near):
            assert chunk.text == texts[int(chunk.id)]
        assert whole is not None
        assert whole.text == document.text
    assert errors > 3
