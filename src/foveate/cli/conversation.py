"""`foveate ask` in a conversation: one turn after another, in a file or on a terminal.

An answered turn is saved, a failed one is not, so that the question can be asked again. The file is
for its owner alone, is written whole, and does not replace what another run wrote meanwhile.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from foveate.answer.ask import Answer, AskOptions, ask, ask_events, resolve_for_model
from foveate.answer.wire import answer_to_json
from foveate.cli import output
from foveate.cli.ask_run import print_answer
from foveate.cli.assemble_run import load_model
from foveate.cli.failures import error_line, name_file_in_errors
from foveate.cli.files import open_output, read_lines
from foveate.cli.options import WINDOW_ADVICE
from foveate.core.candidates import parse_json
from foveate.core.chat.zone_demand import FlexibleBudget, flexible_budget
from foveate.core.errors import BadInput, BudgetTooSmall, ExternalError
from foveate.core.zones import Budget
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.conversation import SHARE, Summariser
from foveate.pipeline.options import AssembleOptions
from foveate.pipeline.sessions import (
    Session,
    TurnRequest,
    proceed,
    session_from_json,
    session_to_json,
)
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from foveate.pipeline.text_files import decode_line
from foveate.ports import Model

PROMPT = "> "
HINT = "Ask; Ctrl-D ends the conversation, Ctrl-C an answer."


@dataclass(slots=True, kw_only=True)
class Conversation:
    """A conversation with a store and a model, saved in `file`."""

    assembler: Assembler
    model: Model
    name: str
    options: AskOptions
    recipe: str
    budget: int | None = None
    principals: tuple[str, ...] = ()
    summariser: Summariser | None = None
    file: str | None = None
    session: Session = field(default_factory=Session)
    _file_bytes: bytes = b""

    def __post_init__(self) -> None:
        """Load the conversation in the file, if it exists."""
        if self.file is not None:
            self._file_bytes = _read_bytes(self.file)
            if self._file_bytes:
                self.session = _load_session(self.file, self._file_bytes)

    def run_turn(self, question: str, *, as_json: bool = False) -> None:
        """Ask, print, and save the turn."""
        options = AssembleOptions(recipe=self.recipe)
        resolved, how = resolve_for_model(
            self.name, question, options, self.options, advice=WINDOW_ADVICE
        )
        budget, zones = split_budget(resolved.budget, self.budget)
        asked = proceed(
            self.session,
            question,
            store=self.assembler,
            system=resolved.system,
            summariser=self.summariser,
            zones=zones,
            budget=budget,
            recipe=resolved.recipe,
            tokenizer=resolved.tokenizer,
            principals=self.principals,
            language=self.options.language,
        )
        request: Any = asked.openai()
        given = (asked.context, self.model, how)
        if as_json:
            answer = ask(*given, sent=request)
            turns = sum(turn.role == "user" for turn in asked.session.turns)
            record = {**answer_to_json(answer, asked.context), "turn": turns}
            output.write_json({**record, "reuse": asdict(asked.reuse)})
        else:
            answer = print_answer(
                ask_events(*given, sent=request), asked.context, _reuse_note(asked)
            )
        self._save(asked, answer)

    def _save(self, asked: TurnRequest, answer: Answer) -> None:
        cited = [entry.marker for entry in answer.citations]
        self.session = asked.session.with_answer(answer.text, cited=cited)
        if self.file is None:
            return
        data = f"{output.encode_json(session_to_json(self.session))}\n".encode()
        if _read_bytes(self.file) != self._file_bytes:
            raise ExternalError(
                f"{self.file}: was changed while the model answered; the answer is not in it, "
                "ask again"
            )
        with open_output(self.file, private=True) as file:
            file.write(data)
        self._file_bytes = data


def split_budget(room: Budget, documents: int | None) -> tuple[Budget, FlexibleBudget]:
    """The model's room, split between documents and conversation.

    `documents`: the most that documents get; the rest is the conversation's.
    """
    whole = room.documents or 0
    most = whole - whole // SHARE
    if documents is not None:
        most = min(documents, most)
    budget = replace(room, documents=most, conversation=whole - most)
    zones = flexible_budget(budget)
    if documents is not None:
        zones = replace(zones, documents=replace(zones.documents, ceiling=most))
    return budget, zones


def _reuse_note(asked: TurnRequest) -> str:
    """The number of tokens that were sent before, for the line of figures."""
    reuse = asked.reuse
    if not reuse.request_reused:
        return ""
    return f"; its first {reuse.request_reused:,} tokens were sent before"


def _read_bytes(name: str) -> bytes:
    """The contents of the file; empty if it does not exist."""
    if not Path(name).exists():
        return b""
    return b"\n".join(read_lines(name)) + b"\n"


def _load_session(name: str, data: bytes) -> Session:
    with name_file_in_errors(name):
        try:
            record = parse_json(decode_line(data.rstrip(b"\n")))
        except BadInput as error:
            what = str(error).partition(";")[0]
            raise BadInput(f"this is not a conversation ({what}); name a new file") from None
        return session_from_json(record)


def run_conversation(
    question: str | None,
    name: str,
    how: AskOptions,
    *,
    store: str,
    limit: int,
    summariser: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """One turn; or, without a question, turns on a terminal until its end.

    `options`: the recipe, budget, principals and file of the `Conversation`.
    """
    model = load_model(name)
    shorter = Summariser(model=load_model(summariser)) if summariser is not None else None
    with open_store_with_embedder(store) as (opened, embedder):
        talk = Conversation(
            assembler=Assembler(
                store=opened, embedder=embedder, options=AssembleOptions(limit=limit)
            ),
            model=model,
            name=name,
            options=how,
            summariser=shorter,
            **options,
        )
        if question is not None:
            talk.run_turn(question, as_json=as_json)
            return
        _prompt_loop(talk)


def _prompt_loop(talk: Conversation) -> None:
    """Read questions from the terminal; an error is printed, and the next question is read."""
    with suppress(ImportError):  # not everywhere
        import readline  # noqa: F401  # the line can be edited, and earlier ones come back

    sys.stderr.write(f"{HINT}\n")
    sys.stderr.flush()
    while True:
        try:
            question = input(PROMPT)
        except EOFError:
            output.write_line("")
            return
        if not question.strip():
            continue
        try:
            talk.run_turn(question)
        except (ExternalError, BudgetTooSmall, BadInput) as error:
            sys.stderr.write(f"{error_line(error)}\n")
        except KeyboardInterrupt:
            sys.stderr.write("foveate: stopped; question and answer are not kept\n")
        output.write_line("")
