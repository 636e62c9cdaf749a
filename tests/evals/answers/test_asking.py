"""Asking a model about an evaluation's contexts: what is asked, kept, failed, and made of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest

from foveate.core.errors import BadInput, BadOption, MissingExtra, OutsideFailure
from foveate.evals.answers.asking import ENOUGH, How, Judge
from foveate.evals.answers.pose import posed
from foveate.evals.trials import setting
from foveate.ports import Likelihood, Reply, Usage
from golden_cases import cases

TRIED, BASELINE = setting(["naive", "default"], [60, 150])
REQUESTS = 2 * 2 * 2
"""Two questions, two recipes, two budgets."""


@dataclass
class Reader:
    """Really reads what it is sent: says its last words again, knows whether a text is there.

    `deaf`: the numbers of the calls, from 1, that fail.
    """

    deaf: frozenset[int] = frozenset()
    scores: bool = True
    name: str = "reader"
    asked: list[str] = field(default_factory=list)

    def _heard(self, kind):
        self.asked.append(kind)
        if len(self.asked) in self.deaf:
            raise OutsideFailure("model reader: answered 503; try again later")

    def complete(self, messages, *, max_tokens=64, temperature=0.0, stop=(), timeout=1.0):
        """The last line before the question, with a marker where the prompt asks for one."""
        self._heard("answer")
        system, user = messages
        context, _, _ = user["content"].rpartition("\n\n")
        last = " ".join(context.splitlines()[-1:]).split()[:max_tokens]
        mark = [" [1]."] if "[1]" in system["content"] else []
        text = " ".join(last) + "".join(mark)
        return Reply(text=text, usage=Usage(prompt=7, completion=len(last)))

    def likelihood(self, messages, answer, *, timeout=1.0):
        """-1 a word where the text was sent to it, else -3."""
        self._heard("score")
        there = answer.casefold() in messages[-1]["content"].casefold()
        return Likelihood(
            mean=-1.0 if there else -3.0, tokens=len(answer.split()), usage=Usage(prompt=7)
        )


@pytest.fixture
def two():
    """Two questions with answers."""
    return [case for case in cases() if case.answers][:2]


def test_every_context_is_asked_about_once(two):
    """E1: an outcome a question, recipe and budget; the whole pool is not asked about."""
    reader = Reader()
    judge = Judge(reader)
    need = judge.need(two, TRIED)
    found = judge.run(two, TRIED)

    assert [(o.id, o.recipe, o.budget) for o in found] == [
        (c.id, r, b) for c in two for r in ("naive", "default") for b in (60, 150)
    ]
    assert need.answers == reader.asked.count("answer") <= REQUESTS
    assert need.scores == reader.asked.count("score") == judge.spent.calls - need.answers
    assert judge.spent.read == 7 * judge.spent.calls
    assert need.read > 0
    assert judge.need(two, TRIED).known == judge.spent.calls  # and nothing is left to ask


def test_a_request_that_two_trials_share_is_reckoned_once(two):
    """E1: what asking will take is said as it will be: the same context is asked about once."""
    reader, (roomy, _) = Reader(), setting(["naive"], [50_000, 90_000])
    judge = Judge(reader)
    need = judge.need(two, roomy)
    found = judge.run(two, roomy)

    assert len(found) == 2 * len(two)
    assert (need.answers, need.scores) == (len(two), len(two))
    assert len(reader.asked) == 2 * len(two)


def test_failures_that_are_not_in_a_row_end_nothing(two):
    """E1, X3: an answer in between shows that somebody is there."""
    deaf = frozenset(n for n in range(1, 40) if n % ENOUGH)
    judge = Judge(Reader(deaf=deaf))
    judge.run(two, TRIED)

    assert judge.spent.failed > ENOUGH
    assert judge.spent.calls > judge.spent.failed


@dataclass
class Mute(Reader):
    """Finds out when it is asked that it cannot say how likely a text is."""

    def likelihood(self, messages, answer, *, timeout=1.0):
        """Nothing, and it says so from then on."""
        self._heard("score")
        self.scores = False


def test_a_server_that_turns_out_not_to_say_is_not_asked_again(two, tmp_path):
    """E1: one call finds it out, nothing of it is kept, and the answers are judged all the same."""
    reader, file = Mute(), tmp_path / "answers.jsonl"
    found = Judge(reader, kept=file).run(two, TRIED)

    assert reader.asked.count("score") == 1
    assert {one.logprob for one in found} == {None}
    assert None not in {one.f1 for one in found}
    assert '"score"' not in file.read_text()


def test_the_measures_are_those_of_what_was_said(two):
    """E1: the probability as the model gave it, the answer without its markers, claims as cited."""
    outcomes = {(o.id, o.recipe, o.budget): o for o in Judge(Reader()).run(two, TRIED)}
    for one in posed(two, TRIED):
        found = outcomes[one.case.id, one.recipe, one.budget]
        assert one.context is not None
        there = one.gold.casefold() in one.messages[-1]["content"].casefold()
        assert found.logprob == (-1.0 if there else -3.0)
        assert found.failed == ""
        assert None not in (found.f1, found.exact, found.inside)
        if one.recipe == "naive":  # shows no markers, so that nothing can be cited
            assert found.supported is None
    assert any(found.supported == 1.0 for found in outcomes.values())


def test_a_stopped_run_goes_on(two, tmp_path):
    """E1: what was said is kept at once; a torn last line is asked again, the rest is not."""
    file = tmp_path / "answers.jsonl"
    whole = Judge(Reader(), How(), file).run(two, TRIED)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:5]) + lines[5][:20])

    reader = Reader()
    judge = Judge(reader, How(), file)
    assert judge.need(two, TRIED).known == 5
    assert judge.run(two, TRIED) == whole
    assert len(reader.asked) == len(lines) - 5
    again = Reader()
    assert Judge(again, How(), file).run(two, TRIED) == whole
    assert again.asked == []


def test_what_is_asked_otherwise_is_asked_anew(two, tmp_path):
    """E1: another limit, another model or another gold answer is another call."""
    file = tmp_path / "answers.jsonl"
    Judge(Reader(), How(), file).run(two, TRIED)
    base = Judge(Reader(), How(), file).need(two, TRIED)
    shorter = Judge(Reader(), How(tokens=3), file).need(two, TRIED)
    other = Judge(Reader(name="another"), How(), file).need(two, TRIED)
    changed = [replace(two[0], answers=("quite another",)), two[1]]
    gold = Judge(Reader(), How(), file).need(changed, TRIED)

    assert (base.answers, base.scores) == (0, 0)
    assert shorter.answers > 0 == shorter.scores
    assert other.answers > 0 < other.scores
    assert gold.answers == 0 < gold.scores


def test_what_fails_is_shown_and_asked_again(two, tmp_path):
    """E1, X3: a failed call costs its measures alone, is counted, and is not kept."""
    file = tmp_path / "answers.jsonl"
    judge = Judge(Reader(deaf=frozenset({1, 4})), How(), file)
    found = judge.run(two, TRIED)

    failed = [one for one in found if one.failed]
    assert judge.spent.failed == 2
    assert [("503" in one.failed) for one in failed] == [True, True]
    assert (failed[0].f1, failed[0].logprob is None) == (None, False)
    assert (failed[1].logprob, failed[1].f1 is None) == (None, False)
    healed = Judge(Reader(), How(), file)
    assert not any(one.failed for one in healed.run(two, TRIED))
    assert healed.spent.calls == 2


def test_nobody_there(two, tmp_path):
    """E1, X3: calls that fail one after another end the run; what was answered is kept."""
    file = tmp_path / "answers.jsonl"
    reader = Reader(deaf=frozenset(range(4, 99)))
    with pytest.raises(OutsideFailure, match=f"{ENOUGH} calls in a row failed: run it again"):
        Judge(reader, How(), file).run(two, TRIED)

    assert len(reader.asked) == 3 + ENOUGH
    assert len(file.read_bytes().splitlines()) == 3


def test_an_engine_that_is_not_installed(two):
    """X1: what no further call can change is raised by the first."""

    class Missing(Reader):
        def complete(self, messages, **options):
            raise MissingExtra("xllamacpp", "gguf")

    with pytest.raises(MissingExtra, match="gguf"):
        Judge(Missing()).run(two, TRIED)


def test_probabilities_alone_and_answers_alone(two):
    """E1: no answer is written where none is wanted; a model that cannot score is not asked to."""
    scoring, writing = Reader(), Reader(scores=False)
    scored = Judge(scoring, How(tokens=0)).run(two, TRIED)
    written = Judge(writing).run(two, TRIED)

    assert set(scoring.asked) == {"score"}
    assert {(one.f1, one.supported) for one in scored} == {(None, None)}
    assert set(writing.asked) == {"answer"}
    assert {one.logprob for one in written} == {None}


def test_nothing_fits_and_no_answer_is_known(two):
    """E1: without a context the question alone is asked; without gold answers nothing is scored."""
    tiny, _ = setting(["default"], [1])
    (one, *_) = posed([two[0]], tiny)
    assert one.context is None
    assert one.messages[-1] == {"role": "user", "content": two[0].question}

    (found, *_) = Judge(Reader()).run([replace(two[0], answers=("  ",))], tiny)
    assert (found.logprob, found.exact, found.f1, found.inside) == (None, None, None, None)


def test_what_cannot_be_kept_or_asked(two, tmp_path):
    """X1, X2: a file that is something else is not overwritten; limits are limits."""
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"well": 9}) + "\n")

    with pytest.raises(BadInput, match="holds no answers of a model"):
        Judge(Reader(), How(), file)
    with pytest.raises(BadOption, match="0 tokens or more"):
        How(tokens=-1)
