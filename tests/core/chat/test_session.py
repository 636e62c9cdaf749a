"""Sessions over turns: what stays, what is added, what must leave."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from foveate import BadInput, Budget, BudgetTooSmall, proceed
from foveate.core.errors import BadOption
from foveate.core.recipes import builtin_recipes
from foveate.pipeline.sessions import (
    Session,
    TokenPrices,
    session_from_json,
    session_to_json,
)
from foveate.testing.fakes import WordTokenizer

THINGS = (
    *("pump", "boiler", "valve", "filter", "gauge", "tank", "burner", "chimney", "radiator"),
    *("thermostat", "drain", "hose", "motor", "fuse", "sensor", "lamp", "grate", "door", "pipe"),
    *("flange", "gasket", "bolt"),
)
PARTS = ("cleaned", "replaced", "measured", "lifted", "cooled", "painted")
LONG = "The {thing} is {verb} every {n} weeks by the engineer on duty, who notes it in book {n}{m}."


def corpus():
    """A manual: for each thing a page of six chunks, no two alike."""
    return [
        {
            "id": f"{thing}-{n}",
            "document_id": f"{thing}.md",
            "source": f"{thing}.md",
            "sequence": n,
            "text": " ".join(
                LONG.format(thing=thing, verb=verb, n=7 * n + k + len(thing), m=n) for k in range(3)
            ),
        }
        for thing in THINGS
        for n, verb in enumerate(PARTS)
    ]


def found(things, limit=8):
    """What a retriever would find for a question on these: their pages, the first ones best."""
    chunks = [c for c in corpus() if c["source"].removesuffix(".md") in things]
    ranked = sorted(chunks, key=lambda c: (things.index(c["source"][:-3]), c["sequence"]))
    return [{**c, "score": 1 / (n + 1)} for n, c in enumerate(ranked[:limit])]


BUDGET = Budget(
    window=3_000, documents=1_500, conversation=600, system=50, query=50, generation=300, buffer=50
)


def twenty(seed):
    """Questions of one conversation: it stays with a thing for a while and comes back to it."""
    random = Random(seed)
    things = random.sample(THINGS, 6)
    for n in range(20):
        about = [things[(n // 3) % 6]] + ([things[0]] if n % 5 == 4 else [])
        yield f"How often is the {about[0]} looked after, and who does it? ({n})", found(about)


def follow(asked, **more):
    """Every turn of a session, the answers citing the first block that is new or else the last."""
    session = Session()
    for query, chunks in asked:
        made = proceed(
            session, query, chunks, tokenizer=WordTokenizer(), **{"budget": BUDGET, **more}
        )
        yield session, made
        markers = [b.marker for b in made.context.blocks]
        session = made.session.with_answer(
            f"Every few weeks [{markers[-1]}]." if markers else "No."
        )


def check_turn(session, made):
    """What holds of every turn."""
    before, now = session.text, made.context.text
    reuse, context = made.reuse, made.context
    count = WordTokenizer().count
    if not reuse.repacked:
        assert now.startswith(before)
        assert reuse.documents_reused == count(before)
    assert reuse.documents_reused + reuse.documents_sent == context.token_count == count(now)
    assert made.conversation.tokens["request"] <= 3_000 - 350
    ids = [own for block in context.blocks for own in block.chunk_ids]
    assert len(ids) == len(set(ids))
    old = {h.block.marker: h.block.chunk_ids for h in session.held}
    for block in context.blocks:
        assert old.get(block.marker, block.chunk_ids) == block.chunk_ids
        start, end = block.span
        assert now[start:end]
    assert [c.marker for c in context.citations] == sorted({b.marker for b in context.blocks})
    assert "".join(made.session.segments) == now
    text = made.openai()[0]["content"]
    assert text.startswith(now)


def test_what_was_sent_keeps_its_bytes_its_place_and_its_number(figure):
    """W4, C1: turn n + 1's documents begin with turn n's, to the byte, unless it says repacked."""
    repacked, turns = 0, 0
    for seed in range(8):
        meant: dict[int, tuple[str, ...]] = {}  # a number's, however often it was repacked
        for session, made in follow(twenty(seed)):
            check_turn(session, made)
            for block in made.context.blocks:
                assert meant.setdefault(block.marker, block.chunk_ids) == block.chunk_ids
            repacked += bool(made.reuse.repacked)
            turns += 1
    figure(f"{turns} turns of sessions, {repacked} of them repacked")

    assert 0 < repacked < turns / 4


def test_over_twenty_turns_nine_tenths_are_a_prefix(figure):
    """W4: of the document tokens that were sent before, 90 % and more are an identical prefix."""
    known = prefix = again = whole = 0
    for seed in range(3):
        for session, made in follow(twenty(seed)):
            sent = {h.block.marker for h in session.held}
            texts = (h.block.text for h in made.session.held if h.block.marker in sent)
            known += max(made.reuse.documents_reused, sum(map(WordTokenizer().count, texts)))
            prefix += made.reuse.documents_reused
            again += made.reuse.request_reused
            whole += made.reuse.request_reused + made.reuse.request_sent
    figure(f"{prefix / known:.1%} of document tokens, {again / whole:.1%} of whole requests")

    assert prefix >= 0.9 * known
    assert again >= whole / 2


def test_a_session_is_a_value(figure):
    """W4, D1: written to JSON and read back after every turn, it gives the very same bytes."""
    plain = [(made.openai(), made.session) for _, made in follow(twenty(3))]
    session, again = Session(), []
    for query, chunks in twenty(3):
        read = session_from_json(json.loads(json.dumps(session_to_json(session))))
        assert read == session
        made = proceed(read, query, chunks, tokenizer=WordTokenizer(), budget=BUDGET)
        again.append((made.openai(), made.session))
        session = made.session.with_answer(f"Every few weeks [{made.context.blocks[-1].marker}].")
    figure(f"{len(json.dumps(session_to_json(session))):,} characters of JSON after 20 turns")

    assert again == plain


def test_what_was_sent_is_not_sent_again():
    """W4: a chunk that stands there is referred to by its number, a copy of it too."""
    chunks = found(["pump"], 3)
    copy = {**chunks[0], "id": "copy", "source": "copy.md", "document_id": "copy.md"}
    first = proceed(Session(), "The pump?", chunks, tokenizer=WordTokenizer(), budget=BUDGET)

    second = proceed(
        first.session.with_answer("Yes [1]."), "Again?", [copy, chunks[1], *found(["fuse"], 1)],
        tokenizer=WordTokenizer(), budget=BUDGET,
    )  # fmt: skip

    assert [b.marker for b in second.context.blocks] == [1, 2, 3, 4]
    decisions = {d.chunk_id: d for d in second.context.trace[0].decisions}
    assert (decisions["copy"].reason, decisions["copy"].by) == ("already_sent", "pump-0")
    assert decisions["copy"].numbers == {"marker": 1}
    assert decisions["pump-1"].numbers == {"marker": 2}
    assert second.reuse.documents_reused == first.context.token_count


def test_a_turn_that_finds_nothing_sends_nothing_new():
    """W4: without candidates the documents stay as they are, and the whole request is a prefix."""
    first = proceed(
        Session(), "The pump?", found(["pump"]), tokenizer=WordTokenizer(), budget=BUDGET
    )
    second = proceed(
        first.session.with_answer("Yes [1]."), "Thanks!", tokenizer=WordTokenizer(), budget=BUDGET
    )
    nothing = proceed(Session(), "Hello?", tokenizer=WordTokenizer(), budget=BUDGET)

    assert second.context.text == first.context.text
    assert second.reuse.documents_sent == 0
    assert second.openai()[0] == first.openai()[0]
    assert nothing.openai() == [{"role": "user", "content": "Hello?"}]


def test_the_documents_are_written_anew_where_that_is_cheaper():
    """W4: where cached tokens are free it never is; where they cost as others, it soon is."""
    ample = Budget(window=None, documents=9_000, conversation=2_000)
    free, dear = TokenPrices(cached=0.0), TokenPrices(cached=1.0)

    kept = [made for _, made in follow(twenty(2), budget=ample, prices=free)]
    anew = [made for _, made in follow(twenty(2), budget=ample, prices=dear)]

    assert {made.reuse.repacked for made in kept} == {""}
    assert {made.reuse.repacked for made in anew} == {"", "cheaper"}
    assert anew[-1].context.token_count < kept[-1].context.token_count


def test_what_was_cited_stays_when_the_documents_are_written_anew():
    """W4, W1: cited evidence keeps its number, or its words are carried on in the conversation."""
    cited: dict[int, str] = {}
    repacked = 0
    for _, made in follow(twenty(4)):
        text = json.dumps(made.openai(), ensure_ascii=False)
        here = {b.marker for b in made.context.blocks}
        for marker, source in cited.items():
            assert marker in here or f"[{marker}] {source}" in text
        cited[made.context.blocks[-1].marker] = made.context.blocks[-1].source
        repacked += bool(made.reuse.repacked)

    assert repacked


def start(principals=("staff",), **more):
    """A session of two turns, with a page for the staff and one for all, both cited."""
    secret = [{**c, "principals": ["staff"]} for c in found(["fuse"], 2)]
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET, **more}
    first = proceed(Session(), "The pump?", found(["pump"], 2), principals=principals, **asked)
    session = first.session.with_answer("Every seven weeks [1].")
    second = proceed(session, "And the fuse?", secret, principals=principals, **asked)
    assert len(second.context.blocks) == 4
    return second.session.with_answer("The fuse: see the book [3].")


def test_what_one_may_no_longer_read_leaves_the_session():
    """W4, X5, I4: blocks, answers given with them and quotes go; others stay; no name is told."""
    session, left = start(), found(["pump"], 2)
    hashes = {c.id: c.content_hash for h in session.held for c in h.chunks}
    readable = {own: known for own, known in hashes.items() if own in {c["id"] for c in left}}
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET, "principals": ["staff"]}

    made = proceed(session, "And now?", found(["pump"], 3), current=readable, **asked)

    everything = json.dumps(
        [made.openai(), session_to_json(made.session), repr(made.conversation.trace)]
    )
    assert "fuse-" not in everything
    assert "The fuse:" not in everything
    assert made.reuse.repacked == "withdrawn"
    assert made.context.trace[0].notes["repacked"] == "withdrawn"
    assert [b.marker for b in made.context.blocks][:2] == [1, 2]
    assert "Every seven weeks [1]." in everything
    assert made.conversation.history.trace.notes["withdrawn"] == 1


def test_a_session_is_for_those_who_may_read_what_it_holds():
    """X5, W4: another reader is refused, and told nothing; who may read more goes on."""
    session, asked = start(), {"tokenizer": WordTokenizer(), "budget": BUDGET}

    for principals in ([], ["board"]):
        with pytest.raises(BadInput, match="begin a new session") as refused:
            proceed(session, "And now?", principals=principals, **asked)
        assert "staff" not in str(refused.value)
    assert proceed(session, "And now?", principals=["staff", "board"], **asked).reuse.repacked == ""


def test_what_was_cited_once_is_still_asked_about():
    """W4, X5: what cites a source does not outlive it, neither its turn nor what is left of it."""
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET, "principals": ["staff"]}
    made = proceed(Session(), "The fuse?", found(["fuse"], 2), **asked)
    session = made.session.with_answer("The fuse is looked after in BOOK-77 [1].")
    for thing in THINGS[:12]:
        made = proceed(session, f"The {thing}?", found([thing]), **asked)
        session = made.session.with_answer("Yes, it is written there. " * 20)
    assert "fuse-0" in {entry.chunk_id for entry in session.carried}
    assert "BOOK-77" in json.dumps(session_to_json(session))
    kept = {c.id: c.content_hash for h in session.held for c in h.chunks}
    kept |= {entry.chunk_id: entry.content_hash for entry in session.cited()}

    still = proceed(session, "So?", current=kept, **asked)
    gone = proceed(
        session, "So?", current={k: v for k, v in kept.items() if k != "fuse-0"}, **asked
    )

    assert "BOOK-77" in json.dumps(still.openai())
    everything = json.dumps([gone.openai(), session_to_json(gone.session), repr(gone)])
    assert "fuse-" not in everything
    assert "BOOK-77" not in everything


TWICE = "The pump starts at one bar and stops at three bar each day."
OPEN = {"id": "p", "document_id": "P", "source": "public.md", "text": TWICE, "score": 0.9}
SHUT = {**OPEN, "id": "q", "document_id": "Q", "source": "hr/plan.md", "score": 0.8,
        "principals": ["hr"]}  # fmt: skip


@pytest.mark.parametrize(
    ("readers", "root", "current", "again", "named"),
    [
        (["hr"], "r2", ("p",), [OPEN], []),
        (["hr"], "r2", None, [OPEN], []),
        (["hr"], "r2", ("p", "q"), [OPEN], ["hr/plan.md"]),
        (["hr"], "r2", None, [OPEN, SHUT], ["hr/plan.md"]),
        (["hr"], "r1", None, [], ["hr/plan.md"]),
        (["hr", "it"], "r1", None, [], ["hr/plan.md"]),
    ],
)
def test_a_copy_that_may_no_longer_be_read_is_no_longer_named(readers, root, current, again, named):
    """X5, W4: who else says it is asked about each turn, in its own right, and kept in JSON."""
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET}
    first = proceed(Session(), "When?", [OPEN, SHUT], principals=["hr"], state_root="r1", **asked)
    (entry,) = first.context.citations
    assert [source.source for source in entry.corroborating] == ["hr/plan.md"]
    session = session_from_json(session_to_json(first.session.with_answer("At one bar [1].")))
    chunk = session.held[0].chunks[0]
    looked = None if current is None else dict.fromkeys(current, chunk.content_hash)

    made = proceed(
        session, "And?", again, principals=readers, state_root=root, current=looked, **asked
    )

    (entry,) = made.context.citations
    assert [source.source for source in entry.corroborating] == named
    assert ("hr/plan" in json.dumps(session_to_json(made.session))) == bool(named)
    assert made.reuse.repacked == ""


@pytest.mark.parametrize("changed", [{"state_root": "other"}, {"current": {}}])
@pytest.mark.parametrize("known", ["none", "some"])
def test_a_block_whose_chunks_nobody_knows_leaves_with_any_change(known, changed):
    """X5, W4: nobody can be asked who may read it, so it stays only while nothing changed."""
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET}
    first = proceed(Session(), "The pump?", found(["pump"], 2), **asked)
    (one, *others) = first.session.held
    more = replace(one.block, chunk_ids=(*one.block.chunk_ids, "of another"))
    strange = replace(one, chunks=()) if known == "none" else replace(one, block=more)
    session = replace(first.session, held=(strange, *others))

    assert len(proceed(session, "So?", **asked).context.blocks) == 2
    assert len(proceed(session, "So?", found(["pump"], 2)[1:], **asked, **changed).session.held) < 2


def test_a_newer_version_is_cited_for_itself():
    """W4: what cites a chunk as it is now stays when what stood there before has changed."""
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET}
    old = found(["pump"], 1)
    new = [{**old[0], "text": "The pump is never cleaned any more, by order."}]
    session = proceed(Session(), "The pump?", old, **asked).session.with_answer("Weekly [1].")
    session = proceed(session, "And now?", new, **asked).session.with_answer("Never [2].")

    made = proceed(session, "So?", new, **asked)

    said = json.dumps(made.openai())
    assert "Never [2]" in said
    assert "Weekly" not in said


def test_all_reasons_for_writing_anew_are_said():
    """W4: that something may not be sent any more is said whatever else came to it."""
    ample = Budget(window=None, documents=9_000, conversation=2_000)
    asked = {"tokenizer": WordTokenizer(), "budget": ample, "prices": TokenPrices(cached=0.0)}
    session = proceed(Session(), "All?", [*found(["pump"]), *found(["fuse"], 2)], **asked).session
    for thing in THINGS[1:4]:
        session = proceed(session, "And?", found([thing]), **asked).session
    hashes = {c.id: c.content_hash for h in session.held for c in h.chunks if "fuse" not in c.id}
    again = {**asked, "prices": TokenPrices(cached=1.0), "current": hashes}

    assert proceed(session, "So?", found(["pipe"]), **again).reuse.repacked == "withdrawn, cheaper"


@pytest.mark.parametrize(
    ("current", "root", "candidates", "left"),
    [
        (None, "", [], {"pump-0", "pump-1", "fuse-0", "fuse-1"}),
        ({}, "", [], set()),
        (None, "other", [], set()),
        (None, "other", ["pump"], {"pump-0", "pump-1"}),
    ],
)
def test_what_is_gone_or_unknown_leaves_the_session(current, root, candidates, left):
    """W4: deleted since, or the state is another and nobody looked: only what is known stays."""
    made = proceed(
        start(), "So?", found(candidates, 2), tokenizer=WordTokenizer(), budget=BUDGET,
        principals=["staff"], current=current, state_root=root,
    )  # fmt: skip

    assert {own for b in made.context.blocks for own in b.chunk_ids} == left
    assert bool(made.reuse.repacked) == (len(left) < 4)


def test_what_has_changed_leaves_the_session():
    """W4: a text that is another now is sent anew under a new number, whoever tells of it."""
    session = start()
    hashes = {c.id: c.content_hash for h in session.held for c in h.chunks}
    newer = [{**found(["pump"], 1)[0], "text": "The pump is never cleaned any more, by order."}]
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET, "principals": ["staff"]}

    told = proceed(session, "So?", current={**hashes, "pump-0": "0" * 32}, **asked)
    seen = proceed(session, "So?", newer, **asked)

    assert [b.marker for b in told.context.blocks] == [2, 3, 4]
    assert [b.marker for b in seen.context.blocks] == [2, 3, 5]  # 4 was not cited
    assert "by order" in seen.context.text
    assert "Every seven weeks [1]" not in json.dumps(seen.openai())


def test_breakpoints_stand_where_a_provider_may_cut():
    """W4: at most four, the documents in one block a turn, so that blocks sent before are equal."""
    before: list[object] = []
    for _, made in follow(twenty(6), system="Answer from the documents."):
        request = made.anthropic()
        blocks = [*request["system"]]
        for message in request["messages"]:
            content = message["content"]
            blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
        marks = [n for n, block in enumerate(blocks) if "cache_control" in block]
        assert 2 <= len(marks) <= 4
        assert marks[0] == 0
        assert marks[-1] == len(blocks) - 1
        said = request["messages"]
        at = [n for n, message in enumerate(said) if "cache_control" in str(message["content"])]
        assert at == sorted({n for n in (0, len(said) - 3, len(said) - 1) if n >= 0})
        texts = [block["text"] for block in request["messages"][0]["content"]]
        segments = len(made.session.segments)
        assert "".join(texts[:segments]) == made.context.text
        if not made.reuse.repacked:
            assert texts[: len(before)] == before
        before = texts[:segments]


def test_a_session_goes_on_as_it_began():
    """W4, X1: another recipe or tokenizer, what is no session, a format that cannot grow."""
    session = start()
    with pytest.raises(BadInput, match="another recipe"):
        proceed(session, "So?", tokenizer=WordTokenizer(), recipe="citations")
    with pytest.raises(BadInput, match="another tokenizer"):
        proceed(session, "So?", tokenizer="cl100k_base")
    with pytest.raises(BadInput, match="not a session"):
        session_from_json({})
    record = session_to_json(session)
    with pytest.raises(BadInput, match="version"):
        session_from_json({**record, "version": 99})
    with pytest.raises(BadInput, match="damaged"):
        session_from_json({**record, "held": [{}]})
    with pytest.raises(BadInput, match="reads 2; begin a new session"):
        session_from_json({**record, "version": 1})
    with pytest.raises(BadOption, match="in tokens"):
        proceed(
            Session(),
            "So?",
            budget=Budget(documents=None, characters=99),
            tokenizer=WordTokenizer(),
        )
    with pytest.raises(BadInput, match="marker 9"):
        session.with_answer("Yes.", cited=[9])
    parts = replace(
        builtin_recipes()["agent-session"],
        format=builtin_recipes()["agent-session"].format.__class__(),
    )
    assert proceed(Session(), "So?", found(["pump"], 1), recipe=parts, tokenizer=WordTokenizer())
    with pytest.raises(BadOption, match="prices"):
        TokenPrices(cached=2.0)


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (["markers"], None, "markers"),
        (["markers"], 1, "above markers"),
        (["segments"], "abc", "segments"),
        (["segments"], [5], "segments[0]"),
        (["principals"], "boss", "principals"),
        (["reuse", "documents_reused"], "x", "reuse.documents_reused"),
        (["state_root"], 7, "state_root"),
        (["pieces", 0], ["a", "b"], "pieces[0][1]"),
        (["pieces", 0], ["a"], "pieces[0]"),
        (["turns", 0, "pinned"], "yes", "turns[0].pinned"),
        (["turns", 0, "message"], {"role": 5}, "message 1 must have a role"),
        (["turns", 1, "cited", 0, "marker"], "1", "turns[1].cited[0].marker"),
        (["held", 0, "block", "text"], None, "held[0].block.text"),
        (["held", 0, "block", "page"], "7", "held[0].block.page"),
        (["held", 0, "block", "score"], "7", "held[0].block.score"),
        (["held", 0, "block", "kind"], ["chunk"], "held[0].block.kind"),
        (["held", 0, "block", "chunk_ids"], "pump", "chunk_ids"),
        (["held", 0, "chunks", 0, "principals"], "boss", "principals"),
        (["held", 0, "copies"], [{}], "damaged"),
        (["held", 0, "copies"], "none", "copies"),
    ],
)
def test_a_session_of_wrong_types_is_refused_by_the_field(path, value, named):
    """X1, X2, W4: what was written by others is looked at where it comes in, and named."""
    record = json.loads(json.dumps(session_to_json(start())))
    *way, last = path
    place = record
    for key in way:
        place = place[key]
    place[last] = value

    with pytest.raises(BadInput) as refused:
        session_from_json(record)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "markers"),
    [
        ("It is so [1-3].", [1, 2, 3]),
        ("It is so 【1】 and [^2].", [1, 2]),
        ("It is so [SOURCE 2; SOURCE 3].", [2, 3]),
        ("Write `a[1]` or, in 2024 [2024-01-02], [see 2].", []),
        ("```\na[1]\n```\nSo [2].", [2]),
    ],
)
def test_an_answer_cites_what_its_markers_name(answer, markers):
    """C1, W4: a session reads an answer's markers as the check of answers does."""
    session = start().with_answer(answer)

    assert [entry.marker for entry in session.turns[-1].cited] == markers


def test_a_format_that_cannot_be_added_to_is_refused():
    """W4: a list of parts is closed by its last byte; nothing can be put behind it."""
    from foveate.core.formats.anthropic import AnthropicDocument

    recipe = replace(builtin_recipes()["agent-session"], format=AnthropicDocument())
    asked = {"tokenizer": WordTokenizer(), "budget": BUDGET, "recipe": recipe}
    first = proceed(Session(), "The pump?", found(["pump"], 1), **asked)

    with pytest.raises(BadOption, match="anthropic-document"):
        proceed(first.session, "The fuse?", found(["fuse"], 1), **asked)


def test_a_session_does_not_end_of_its_own_notes():
    """W4, W1: with more cited than the conversation's zone holds it goes on, and says so."""
    budget = Budget(window=None, documents=90, conversation=90, query=20, system=0)
    session, reasons = Session(), set()
    for n in range(60):
        text = f"Text {n} says that the valve {n} is closed in winter and opened by {n} men."
        chunks = [{"id": f"d{n}", "source": f"part-{n}.md", "text": text}]
        made = proceed(session, f"And valve {n}?", chunks, tokenizer=WordTokenizer(), budget=budget)
        reasons |= {d.reason for d in made.conversation.history.trace.decisions}
        session = made.session.with_answer(f"It is closed [{made.context.citations[-1].marker}].")

    assert len(session.carried) > 30
    assert "citation_left_out" in reasons


def test_a_session_that_cannot_fit_says_what_would_do():
    """B1, X1: the window it names is one that does."""
    small = Budget(
        window=120, documents=60, conversation=20, system=10, query=10, generation=10, buffer=10
    )
    asked = {"tokenizer": WordTokenizer(), "verbatim": 1}

    with pytest.raises(BudgetTooSmall) as refused:
        proceed(Session(), "The pump?", found(["pump"], 1), budget=replace(small, documents=1,
            window=61), **asked)  # fmt: skip
    more = refused.value.needed - refused.value.budget
    enough = replace(small, documents=1 + more, window=61 + more)
    assert proceed(Session(), "The pump?", found(["pump"], 1), budget=enough, **asked).context.text
