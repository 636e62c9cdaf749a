"""The law suite for models: hand yours to `check_model` and see whether it may be asked.

Needs no test framework: a law that is broken raises `AssertionError`. It asks some four short
questions, so a model that costs money costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from foveate.core.errors import InvalidRequest
from foveate.ports import Message, Model, Reply

MESSAGES: tuple[Message, ...] = (
    {"role": "system", "content": "Answer from the context alone, in one sentence."},
    {"role": "user", "content": "[1] The well is nine metres deep.\n\nHow deep is the well?"},
)
MAX_TOKENS = 24  # tokens that the suite asks for


def check_model(model: Model, messages: Sequence[Message] = MESSAGES) -> None:
    """Pieces make up the reply, the reply comes last and once, limits hold, nonsense is refused."""
    assert model.name, "a model has a name"
    kept = [dict(message) for message in messages]

    *pieces, last = model.stream(messages, max_tokens=MAX_TOKENS)
    assert isinstance(last, Reply), f"the last item is the Reply, not {last!r}"
    texts = [piece for piece in pieces if isinstance(piece, str)]
    assert len(texts) == len(pieces), "there is one Reply, at the end"
    assert all(texts), "no piece is empty"
    assert "".join(texts) == last.text, "the pieces make up the text of the Reply"
    _check_reply(last)

    reply = model.complete(messages, max_tokens=MAX_TOKENS)
    _check_reply(reply)
    assert [dict(message) for message in messages] == kept, "the messages are left as they are"
    _check_stopped_early(model, messages)
    _check_refusals(model)


def _check_reply(reply: Reply) -> None:
    """Names, finish and counts."""
    assert reply.finish in ("stop", "length", "other"), f"finish is {reply.finish!r}"
    used = reply.usage
    for count in (used.prompt, used.completion, used.cached):
        assert count is None or count >= 0, f"{used!r} counts below nothing"
    assert (used.cached or 0) <= (used.prompt or used.cached or 0), f"{used!r}: cached are read"
    if used.completion is not None:
        assert used.completion <= MAX_TOKENS, f"{used!r}: more was written than asked for"


def _check_stopped_early(model: Model, messages: Sequence[Message]) -> None:
    """A reader may leave in the middle; the next question is answered all the same."""
    pieces = iter(model.stream(messages, max_tokens=MAX_TOKENS))
    next(pieces)
    close = getattr(pieces, "close", None)
    if close is not None:
        close()
    _check_reply(model.complete(messages, max_tokens=MAX_TOKENS))


def _check_refusals(model: Model) -> None:
    """What no model could answer is the caller's fault, and is not sent."""
    question: Message = {"role": "user", "content": "How deep?"}
    nonsense: Message = {"role": "nobody", "content": "How deep?"}
    for messages, options in (
        ([], {}),
        ([nonsense], {}),
        ([question], {"max_tokens": 0}),
        ([question], {"timeout": 0.0}),
        ([question], {"temperature": -1.0}),
    ):
        try:
            model.complete(messages, **options)
        except InvalidRequest:
            continue
        raise AssertionError(f"{messages!r} with {options!r} was not refused")
