"""How much a text weighs: what is counted, how often, and that sums are counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from foveate.adapters.tokenizers import load
from foveate.core.gauge import Gauge
from foveate.core.text.profile import Written
from foveate.core.types import Candidate, Chunk, Part, content_hash
from foveate.testing.fakes import Words, as_it_is, candidate, unframed
from foveate.testing.hostile import PIECES

CL100K = load("cl100k_base")
TEXTS = st.lists(st.sampled_from((*PIECES, "The end.", " Ltd.", "\n", "x = 1;")), max_size=8).map(
    "".join
)


@dataclass
class Seen:
    """A tokenizer that keeps what it is asked to count."""

    inner: object = CL100K
    name: str = "seen"
    fingerprint: str = "seen-1"
    texts: list[str] = field(default_factory=list)

    def count(self, text):
        """The real count."""
        self.texts.append(text)
        return self.inner.count(text)

    def truncate(self, text, n):
        """The real cut."""
        return self.inner.truncate(text, n)


@dataclass
class SeenBreaking(Seen):
    """The same, for a tokenizer that says where counts add up."""

    def breaks(self, left, right):
        """The real places."""
        return self.inner.breaks(left, right)


def gauge(tokenizer, body=as_it_is):
    """A gauge that remembers nothing yet."""
    return Gauge(tokenizer=tokenizer, body=body, frame=unframed)


def put_together(glue, bodies):
    """The finished text."""
    return glue[0] + "".join(b + g for b, g in zip(bodies, glue[1:], strict=True))


@settings(max_examples=400, deadline=None)
@given(bodies=st.lists(TEXTS, max_size=5), data=st.data())
def test_the_sum_is_the_count(bodies, data):
    """B1: whatever bodies and glue hold, the count is the tokenizer's, also a second time."""
    glue = data.draw(st.lists(TEXTS, min_size=len(bodies) + 1, max_size=len(bodies) + 1))
    text = put_together(glue, bodies)
    written = [Written(body, content_hash(body)) for body in bodies]
    measure = gauge(CL100K)

    assert measure.whole(text, glue, written) == CL100K.count(text)
    assert measure.whole(text, glue, written) == CL100K.count(text)


def test_a_text_is_counted_once_and_its_last_word_with_the_line_break():
    """B7: of a known body only the last word is looked at again, and no more the next time."""
    body = "A long story, told at length, comes to an end."
    tokenizer = SeenBreaking()
    measure = gauge(tokenizer)
    chunk = Chunk(text=body)
    measure.chunk(chunk)
    glue = ["[1]\n", "\n\n[2]\n", ""]
    text = put_together(glue, [body, body])
    written = [measure.written(chunk.text, chunk.content_hash)] * 2
    tokens = measure.whole(text, glue, written)

    assert tokens == CL100K.count(text)
    assert tokenizer.texts == [body, "[1]\n", " end.\n\n", " end.", "[2]\n"]

    tokenizer.texts.clear()
    measure.whole(text, glue, written)

    assert tokenizer.texts == []


def test_without_a_word_on_where_counts_add_up_all_is_counted():
    """B1: a tokenizer that does not say where sums are counts is asked for the whole text."""
    tokenizer = Seen()
    tokens = gauge(tokenizer).whole("[1]\nOne.", ["[1]\n", ""], [Written("One.", "h")])

    assert tokens == CL100K.count("[1]\nOne.")
    assert tokenizer.texts == ["[1]\nOne."]


def test_a_text_that_passes_for_a_hash_is_counted_as_itself():
    """B7: a text that is the content hash of another does not get its count."""
    other = "Some words that count more than their hash's own name does, by far and away."
    measure = gauge(Words())
    measure.chunk(Chunk(text=other))

    assert measure.rendered(content_hash(other)) == 1
    assert measure.text(content_hash(other)) == 1


def test_how_a_text_is_written_is_worked_out_once_for_each_way():
    """B7: the second time the body is not made again; another way of writing has its own."""
    calls = []

    def loud(text):
        calls.append(text)
        return text.upper()

    chunk = Chunk(text="how loud is this one")
    for _ in range(2):
        assert gauge(Words(), loud).chunk(chunk) == 5
        assert gauge(Words()).written(chunk.text, chunk.content_hash).text == chunk.text
    assert calls == [chunk.text]


def test_ways_of_writing_do_not_pile_up():
    """X2: a hundred ways of writing one text leave a few behind."""
    from foveate.core.gauge import WAYS
    from foveate.core.text.profile import profile

    chunk = Chunk(text="written a hundred ways")
    for n in range(100):
        gauge(Words(), lambda text, n=n: f"{n} {text}").chunk(chunk)

    assert len(profile(chunk.content_hash).bodies) <= WAYS


BODY = "The pump starts at one bar, and the valve opens at two."
HASHED = content_hash(BODY)
KEYS = st.lists(st.sampled_from((HASHED, HASHED[:31], "a", "\n", " ", "x")), max_size=4)


@settings(deadline=None)
@given(KEYS.map("".join), st.sampled_from(("", "\n", "\n\n", "\n\n\n")))
def test_no_text_passes_for_the_key_of_another(text, tail):
    """B1: a text that reads like a content hash, line breaks behind it or not, counts as itself."""
    ours = gauge(CL100K)
    bodies = [Written(BODY, HASHED)]
    finished = put_together(("", f"{tail}x"), (BODY,))
    before = [ours.rendered(text), ours.rendered(HASHED + tail)]

    assert ours.whole(finished, ("", f"{tail}x"), bodies) == CL100K.count(finished)
    assert [ours.rendered(text), ours.rendered(HASHED + tail)] == before
    assert before == [CL100K.count(text), CL100K.count(HASHED + tail)]


def test_a_frame_is_made_once_for_a_shape():
    """Candidates of one shape have one frame: it is made, and counted, once at each place."""
    asked = []

    def frame(one, place):
        asked.append((one.chunk.source, place))
        return f"{one.chunk.source} {place}\n"

    pool = [candidate(f"Text {n}.", source=("one", "two")[n % 2]) for n in range(6)]
    seen = Seen()
    shaped = Gauge(tokenizer=seen, body=as_it_is, frame=frame, shape=lambda one: one.chunk.source)
    costs = [shaped.around(one)[place] for place in ("first", "same") for one in pool]

    assert [cost.tokens for cost in costs] == [
        CL100K.count(frame(one, place)) for place in ("first", "same") for one in pool
    ]
    assert len(asked) - len(costs) == 4
    assert len(seen.texts) == 4


def test_frames_of_no_shape_are_each_their_own():
    """Where nothing is known of what decides a frame, each candidate has its own."""
    own = Gauge(tokenizer=Words(), body=as_it_is, frame=lambda one, _: f"{one.chunk.id} ")
    around = [own.around(candidate("Text.", id=name)) for name in ("a", "bb")]

    assert [one["first"].characters for one in around] == [2, 3]


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["", "\n\n", " ", "\n"])), min_size=1, max_size=5))
def test_a_passage_weighs_what_its_text_does(parts: list[tuple[str, str]]) -> None:
    """B1, B7: put together of chunks whose counts are known, or of chunks that overlap."""
    for shared in (0, 1):
        text, inner = "", []
        for own, glue in parts:
            start = max(len(text) - shared, 0)
            if not own or not text[start:].startswith(own[: len(text) - start]):
                continue
            text = text[:start] + own
            chunk = Chunk(text=own, id=f"c{len(inner)}")
            inner.append(Part(chunk=chunk, span=(start, start + len(own))))
            text += glue
        for tokenizer in (SeenBreaking(), Seen(), Words()):
            for body in (as_it_is, str.upper):
                weighed = gauge(tokenizer, body)
                passage = Candidate(chunk=Chunk(text=text or "x", id="p"), parts=tuple(inner))
                assert weighed.passage(passage) == tokenizer.count(body(text or "x"))


def test_a_passage_of_known_chunks_is_not_counted() -> None:
    """B7: only what is new at the seams is."""
    texts = ["The gate is of oak. " * 40 + "It holds.", "The quay is long. " * 40 + "It is wide."]
    chunks = [Chunk(text=text, id=text) for text in texts]
    tokenizer = SeenBreaking()
    weighed = gauge(tokenizer)
    expected = CL100K.count("\n\n".join(texts))
    for chunk in chunks:
        weighed.chunk(chunk)
    tokenizer.texts.clear()
    ends = len(texts[0]), len(texts[0]) + 2
    spans = (0, ends[0]), (ends[1], ends[1] + len(texts[1]))
    parts = tuple(Part(chunk=c, span=s) for c, s in zip(chunks, spans, strict=True))
    whole = Candidate(chunk=Chunk(text="\n\n".join(texts), id="p"), parts=parts)

    assert weighed.passage(whole) == expected
    assert sum(map(len, tokenizer.texts)) < 40
    assert weighed.chunk(whole.chunk) == expected
