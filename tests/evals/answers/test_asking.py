"""Asking a model about an evaluation's contexts: what is asked, kept, failed, and made of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest

from foveate.core.errors import BadInput, BadOption, ExternalError, MissingExtra
from foveate.core.window import split_message
from foveate.evals.answers.requests import build_requests
from foveate.evals.answers.run import MAX_FAILURES_IN_A_ROW, AnswerRunner
from foveate.evals.trials import build_setting
from foveate.ports import Likelihood, Reply, Usage
from golden_cases import cases

TRIED, BASELINE = build_setting(["naive", "default"], [60, 150])
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
            raise ExternalError("model reader: answered 503; try again later")

    def complete(self, messages, *, max_tokens=64, temperature=0.0, stop=(), timeout=1.0):
        """A line of the context, the first source's if it has markers, and a marker if asked."""
        self._heard("answer")
        system, user = messages
        context, _ = split_message(user["content"])
        lines = context.splitlines() or [""]
        last = lines[1 if lines[0].startswith("[1]") else -1].split()[:max_tokens]
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
    judge = AnswerRunner(reader)
    need = judge.estimate(two, TRIED)
    found = judge.run(two, TRIED)

    assert [(o.id, o.recipe, o.budget) for o in found] == [
        (c.id, r, b) for c in two for r in ("naive", "default") for b in (60, 150)
    ]
    assert need.answers == reader.asked.count("answer") <= REQUESTS
    assert need.scores == reader.asked.count("score") == judge.usage.calls - need.answers
    assert judge.usage.read == 7 * judge.usage.calls
    assert need.read > 0
    assert judge.estimate(two, TRIED).known == judge.usage.calls  # and nothing is left to ask


def test_a_request_that_two_trials_share_is_reckoned_once(two):
    """E1: what asking will take is said as it will be: the same context is asked about once."""
    reader, (roomy, _) = Reader(), build_setting(["naive"], [50_000, 90_000])
    judge = AnswerRunner(reader)
    need = judge.estimate(two, roomy)
    found = judge.run(two, roomy)

    assert len(found) == 2 * len(two)
    assert (need.answers, need.scores) == (len(two), len(two))
    assert len(reader.asked) == 2 * len(two)


def test_failures_that_are_not_in_a_row_end_nothing(two):
    """E1, X3: an answer in between shows that somebody is there."""
    deaf = frozenset(n for n in range(1, 40) if n % MAX_FAILURES_IN_A_ROW)
    judge = AnswerRunner(Reader(deaf=deaf))
    judge.run(two, TRIED)

    assert judge.usage.failed > MAX_FAILURES_IN_A_ROW
    assert judge.usage.calls > judge.usage.failed


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
    found = AnswerRunner(reader, log_path=file).run(two, TRIED)

    assert reader.asked.count("score") == 1
    assert {one.measures["logprob"] for one in found} == {None}
    assert None not in {one.measures["f1"] for one in found}
    assert '"score"' not in file.read_text()


def test_the_measures_are_those_of_what_was_said(two):
    """E1: the probability as the model gave it, the answer without its markers, claims as cited."""
    outcomes = {(o.id, o.recipe, o.budget): o for o in AnswerRunner(Reader()).run(two, TRIED)}
    for one in build_requests(two, TRIED):
        found = outcomes[one.case.id, one.recipe, one.budget]
        assert one.context is not None
        there = one.gold.casefold() in one.messages[-1]["content"].casefold()
        assert found.measures["logprob"] == (-1.0 if there else -3.0)
        assert found.failed == ""
        assert None not in (found.measures["f1"], found.measures["exact"], found.measures["inside"])
        if one.recipe == "naive":  # shows no markers, so that nothing can be cited
            assert found.measures["supported"] is None
    assert any(found.measures["supported"] == 1.0 for found in outcomes.values())


def test_a_stopped_run_goes_on(two, tmp_path):
    """E1: what was said is kept at once; a torn last line is asked again, the rest is not."""
    file = tmp_path / "answers.jsonl"
    whole = AnswerRunner(Reader(), file).run(two, TRIED)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:5]) + lines[5][:20])

    reader = Reader()
    judge = AnswerRunner(reader, file)
    assert judge.estimate(two, TRIED).known == 5
    assert judge.run(two, TRIED) == whole
    assert len(reader.asked) == len(lines) - 5
    again = Reader()
    assert AnswerRunner(again, file).run(two, TRIED) == whole
    assert again.asked == []


def test_what_is_asked_otherwise_is_asked_anew(two, tmp_path):
    """E1: another limit, another model or another gold answer is another call."""
    file = tmp_path / "answers.jsonl"
    AnswerRunner(Reader(), file).run(two, TRIED)
    base = AnswerRunner(Reader(), file).estimate(two, TRIED)
    shorter = AnswerRunner(Reader(), file, tokens=3).estimate(two, TRIED)
    other = AnswerRunner(Reader(name="another"), file).estimate(two, TRIED)
    changed = [replace(two[0], answers=("quite another",)), two[1]]
    gold = AnswerRunner(Reader(), file).estimate(changed, TRIED)

    assert (base.answers, base.scores) == (0, 0)
    assert shorter.answers > 0 == shorter.scores
    assert other.answers > 0 < other.scores
    assert gold.answers == 0 < gold.scores


def test_what_fails_is_shown_and_asked_again(two, tmp_path):
    """E1, X3: a failed call costs its measures alone, is counted, and is not kept."""
    file = tmp_path / "answers.jsonl"
    judge = AnswerRunner(Reader(deaf=frozenset({1, 4})), file)
    found = judge.run(two, TRIED)

    failed = [one for one in found if one.failed]
    assert judge.usage.failed == 2
    assert [("503" in one.failed) for one in failed] == [True, True]
    assert (failed[0].measures["f1"], failed[0].measures["logprob"] is None) == (None, False)
    assert (failed[1].measures["logprob"], failed[1].measures["f1"] is None) == (None, False)
    healed = AnswerRunner(Reader(), file)
    assert not any(one.failed for one in healed.run(two, TRIED))
    assert healed.usage.calls == 2


def test_nobody_there(two, tmp_path):
    """E1, X3: calls that fail one after another end the run; what was answered is kept."""
    file = tmp_path / "answers.jsonl"
    reader = Reader(deaf=frozenset(range(4, 99)))
    with pytest.raises(
        ExternalError, match=f"{MAX_FAILURES_IN_A_ROW} calls in a row failed: run it again"
    ):
        AnswerRunner(reader, file).run(two, TRIED)

    assert len(reader.asked) == 3 + MAX_FAILURES_IN_A_ROW
    assert len(file.read_bytes().splitlines()) == 3


def test_an_engine_that_is_not_installed(two):
    """X1: what no further call can change is raised by the first."""

    class Missing(Reader):
        def complete(self, messages, **options):
            raise MissingExtra("xllamacpp", "gguf")

    with pytest.raises(MissingExtra, match="gguf"):
        AnswerRunner(Missing()).run(two, TRIED)


def test_probabilities_alone_and_answers_alone(two):
    """E1: no answer is written where none is wanted; a model that cannot score is not asked to."""
    scoring, writing = Reader(), Reader(scores=False)
    scored = AnswerRunner(scoring, tokens=0).run(two, TRIED)
    written = AnswerRunner(writing).run(two, TRIED)

    assert set(scoring.asked) == {"score"}
    assert {(one.measures["f1"], one.measures["supported"]) for one in scored} == {(None, None)}
    assert set(writing.asked) == {"answer"}
    assert {one.measures["logprob"] for one in written} == {None}


def test_nothing_fits_and_no_answer_is_known(two):
    """E1: without a context the question alone is asked; without gold answers nothing is scored."""
    tiny, _ = build_setting(["default"], [1])
    (one, *_) = build_requests([two[0]], tiny)
    assert one.context is None
    assert one.messages[-1] == {"role": "user", "content": two[0].question}

    (found, *_) = AnswerRunner(Reader()).run([replace(two[0], answers=("  ",))], tiny)
    assert (
        found.measures["logprob"],
        found.measures["exact"],
        found.measures["f1"],
        found.measures["inside"],
    ) == (None, None, None, None)


def test_what_cannot_be_kept_or_asked(two, tmp_path):
    """X1, X2: a file that is something else is not overwritten; limits are limits."""
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"well": 9}) + "\n")

    with pytest.raises(BadInput, match="holds no answers of a model"):
        AnswerRunner(Reader(), file)
    with pytest.raises(BadOption, match="0 tokens or more"):
        AnswerRunner(Reader(), tokens=-1)
