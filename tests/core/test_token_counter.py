"""How much a text weighs: what is counted, how often, and that sums are counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from foveate.core.seal import content_hash
from foveate.core.text.profile import HashedText, holding_profiles
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate, Chunk, Part
from foveate.providers.tokenizers import load_tokenizer
from foveate.testing.fakes import WordTokenizer, candidate, identity_body, no_header
from foveate.testing.hostile import PIECES

CL100K = load_tokenizer("cl100k_base")
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


def new_counter(tokenizer, body=identity_body):
    """A counter that remembers nothing yet."""
    return TokenCounter(tokenizer=tokenizer, body=body, header=no_header)


def put_together(glue, bodies):
    """The finished text."""
    return glue[0] + "".join(b + g for b, g in zip(bodies, glue[1:], strict=True))


@given(bodies=st.lists(TEXTS, max_size=5), data=st.data())
def test_the_sum_is_the_count(bodies, data):
    """B1: whatever bodies and glue hold, the count is the tokenizer's, also a second time."""
    glue = data.draw(st.lists(TEXTS, min_size=len(bodies) + 1, max_size=len(bodies) + 1))
    text = put_together(glue, bodies)
    written = [HashedText(body, content_hash(body)) for body in bodies]
    measure = new_counter(CL100K)

    assert measure.count_joined(text, glue, written) == CL100K.count(text)
    assert measure.count_joined(text, glue, written) == CL100K.count(text)


def test_a_text_is_counted_once_and_its_last_word_with_the_line_break():
    """B7: of a known body only the last word is looked at again, and no more the next time."""
    body = "A long story, told at length, comes to an end."
    tokenizer = SeenBreaking()
    measure = new_counter(tokenizer)
    chunk = Chunk(text=body)
    measure.count_chunk(chunk)
    glue = ["[1]\n", "\n\n[2]\n", ""]
    text = put_together(glue, [body, body])
    written = [measure.render_body(chunk.text, chunk.content_hash)] * 2
    tokens = measure.count_joined(text, glue, written)

    assert tokens == CL100K.count(text)
    assert tokenizer.texts == [body, "[1]\n", " end.\n\n", " end.", "[2]\n"]

    tokenizer.texts.clear()
    measure.count_joined(text, glue, written)

    assert tokenizer.texts == []


def test_without_a_word_on_where_counts_add_up_all_is_counted():
    """B1: a tokenizer that does not say where sums are counts is asked for the whole text."""
    tokenizer = Seen()
    tokens = new_counter(tokenizer).count_joined(
        "[1]\nOne.", ["[1]\n", ""], [HashedText("One.", "h")]
    )

    assert tokens == CL100K.count("[1]\nOne.")
    assert tokenizer.texts == ["[1]\nOne."]


def test_a_text_that_passes_for_a_hash_is_counted_as_itself():
    """B7: a text that is the content hash of another does not get its count."""
    other = "Some words that count more than their hash's own name does, by far and away."
    measure = new_counter(WordTokenizer())
    measure.count_chunk(Chunk(text=other))

    assert measure.count_rendered(content_hash(other)) == 1
    assert measure.count_text(content_hash(other)) == 1


@holding_profiles
def test_how_a_text_is_written_is_worked_out_once_for_each_way():
    """B7: the second time the body is not made again; another way of writing has its own."""
    calls = []

    def loud(text):
        calls.append(text)
        return text.upper()

    chunk = Chunk(text="how loud is this one")
    for _ in range(2):
        assert new_counter(WordTokenizer(), loud).count_chunk(chunk) == 5
        assert (
            new_counter(WordTokenizer()).render_body(chunk.text, chunk.content_hash).text
            == chunk.text
        )
    assert calls == [chunk.text]


BODY = "The pump starts at one bar, and the valve opens at two."
HASHED = content_hash(BODY)
KEYS = st.lists(st.sampled_from((HASHED, HASHED[:31], "a", "\n", " ", "x")), max_size=4)


@given(KEYS.map("".join), st.sampled_from(("", "\n", "\n\n", "\n\n\n")))
def test_no_text_passes_for_the_key_of_another(text, tail):
    """B1: a text that reads like a content hash, line breaks behind it or not, counts as itself."""
    ours = new_counter(CL100K)
    bodies = [HashedText(BODY, HASHED)]
    finished = put_together(("", f"{tail}x"), (BODY,))
    before = [ours.count_rendered(text), ours.count_rendered(HASHED + tail)]

    assert ours.count_joined(finished, ("", f"{tail}x"), bodies) == CL100K.count(finished)
    assert [ours.count_rendered(text), ours.count_rendered(HASHED + tail)] == before
    assert before == [CL100K.count(text), CL100K.count(HASHED + tail)]


def test_a_frame_is_made_once_for_a_shape():
    """Candidates of one shape have one frame: it is made, and counted, once at each place."""
    asked = []

    def frame(one, place):
        asked.append((one.chunk.source, place))
        return f"{one.chunk.source} {place}\n"

    pool = [candidate(f"Text {n}.", source=("one", "two")[n % 2]) for n in range(6)]
    seen = Seen()
    shaped = TokenCounter(
        tokenizer=seen, body=identity_body, header=frame, header_key=lambda one: one.chunk.source
    )
    costs = [shaped.header_costs(one)[place] for place in ("first", "same") for one in pool]

    assert [cost.tokens for cost in costs] == [
        CL100K.count(frame(one, place)) for place in ("first", "same") for one in pool
    ]
    assert len(asked) - len(costs) == 4
    assert len(seen.texts) == 4


def test_frames_of_no_shape_are_each_their_own():
    """Where nothing is known of what decides a frame, each candidate has its own."""
    own = TokenCounter(
        tokenizer=WordTokenizer(), body=identity_body, header=lambda one, _: f"{one.chunk.id} "
    )
    around = [own.header_costs(candidate("Text.", id=name)) for name in ("a", "bb")]

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
        for tokenizer in (SeenBreaking(), Seen(), WordTokenizer()):
            for body in (identity_body, str.upper):
                weighed = new_counter(tokenizer, body)
                passage = Candidate(chunk=Chunk(text=text or "x", id="p"), parts=tuple(inner))
                assert weighed.count_passage(passage) == tokenizer.count(body(text or "x"))


def test_a_passage_of_known_chunks_is_not_counted() -> None:
    """B7: only what is new at the seams is."""
    texts = ["The gate is of oak. " * 40 + "It holds.", "The quay is long. " * 40 + "It is wide."]
    chunks = [Chunk(text=text, id=text) for text in texts]
    tokenizer = SeenBreaking()
    weighed = new_counter(tokenizer)
    expected = CL100K.count("\n\n".join(texts))
    for chunk in chunks:
        weighed.count_chunk(chunk)
    tokenizer.texts.clear()
    ends = len(texts[0]), len(texts[0]) + 2
    spans = (0, ends[0]), (ends[1], ends[1] + len(texts[1]))
    parts = tuple(Part(chunk=c, span=s) for c, s in zip(chunks, spans, strict=True))
    whole = Candidate(chunk=Chunk(text="\n\n".join(texts), id="p"), parts=parts)

    assert weighed.count_passage(whole) == expected
    assert sum(map(len, tokenizer.texts)) < 40
    assert weighed.count_chunk(whole.chunk) == expected
