"""What a candidate costs, and how seldom it is worked out."""

from __future__ import annotations

from dataclasses import replace

from foveate.core.renditions import full_rendition, rendition_hash
from foveate.core.seal import content_hash
from foveate.core.stages.pack import Pack
from foveate.core.stages.pack import budget_tracker as module
from foveate.core.stages.pack import budget_tracker as weighing
from foveate.core.stages.pack import value as climbing
from foveate.core.stages.pack.budget_tracker import pieces, tracker_for_budget
from foveate.core.stages.stitch import Stitch
from foveate.core.text.profile import holding_profiles
from foveate.core.types import Candidate, Rendition
from foveate.testing.fakes import candidate, request


def passage(word: str) -> Candidate:
    """Three chunks in one."""
    texts = [f"The {word} opens in {month}.\n" for month in ("May", "June", "July")]
    starts = [sum(map(len, texts[:n])) for n in range(3)]
    pool = tuple(
        candidate(text, 0.9 - n / 10, id=f"{word}{n}", document_id="d", sequence=n, start=start)
        for n, (text, start) in enumerate(zip(texts, starts, strict=True))
    )
    (made,) = Stitch()(pool, request()).candidates
    return made


def test_what_is_affordable_is_what_fits() -> None:
    """S9: `afford` is the cost where the purse holds it, and nothing where it does not."""
    one = candidate("One two three four.", id="a")
    for tokens in range(1, 12):
        asked = request(budget=tokens)
        tracker = tracker_for_budget(asked.budget, asked.token_counter, None)
        cost = tracker.cost(one, full_rendition(one))

        assert tracker.afford(one, full_rendition(one)) == (cost if tracker.fits(cost) else None)
        assert tracker.fits(cost) == (tracker.short_by(cost) <= 0)


@holding_profiles
def test_a_piece_of_a_passage_is_put_together_once(monkeypatch) -> None:
    """The pieces of the same passage, under other scores, are joined once for each choice."""
    joined, asked = module.join_chunk_spans, []
    monkeypatch.setattr(
        module, "join_chunk_spans", lambda *given: asked.append(given) or joined(*given)
    )
    made = passage("garden")
    higher = replace(made, parts=tuple(replace(p, score=p.score + 1) for p in made.parts))
    first, again = pieces(made), pieces(higher)

    assert [way.text for way in again] == [way.text for way in first]
    assert [way.value for way in again] != [way.value for way in first]
    assert len(asked) == len(first)


def test_a_rendition_knows_the_hash_of_its_text() -> None:
    """The hash of a rendition's text is that of the text, whoever made it and whatever changed."""
    for way in pieces(passage("harbour")):
        assert rendition_hash(way) == content_hash(way.text)
        assert rendition_hash(replace(way, text="Other.")) == content_hash("Other.")


def test_no_way_to_show_is_made_of_what_is_left_out(monkeypatch) -> None:
    """Of undivided candidates, only those that are shown get a rendition, one each."""
    made = []

    def counted(one: Candidate) -> Rendition:
        made.append(one.chunk.id)
        return full_rendition(one)

    monkeypatch.setattr(climbing, "full_rendition", counted)
    monkeypatch.setattr(weighing, "full_rendition", counted)
    pool = tuple(candidate(f"One two three {n}.", n / 50, id=f"c{n:02}") for n in range(50))
    step = Pack()(pool, request(budget=40))

    assert 0 < len(step.candidates) < 50
    assert sorted(made) == [one.id for one in step.candidates]
    assert len(step.decisions) == 50
