"""`foveate replay`: make a context again from its bundle, or explain how two runs differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foveate.cli import output
from foveate.cli.failures import INPUT
from foveate.cli.options import Json, argument
from foveate.core.errors import BadInput, BudgetTooSmall, StageBroke, name_in_errors

if TYPE_CHECKING:
    from foveate.core.replay import Verdict

COMPACTION = "foveate-compaction"
"""The kind of a bundle that `foveate compact --bundle` wrote."""


def replay(
    file: Annotated[str, argument("FILE", "A bundle; - is stdin.")],
    other: Annotated[
        str | None, argument("[FILE2]", "A second bundle, to compare with the first.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a bundle's result again, and compare. Prints `identical`, or what differs (exit code 3).

    With two bundles of contexts: show how their runs differ.
    """
    from foveate.core.replay import compare_bundles

    old = _read_bundle(file)
    if old["kind"] == COMPACTION:
        found = _compact_again(file, old, other)
    else:
        found = compare_bundles(
            old, _read_bundle(other) if other is not None else _assemble_again(file, old)
        )
    output.write_result(found.to_json(), [str(found)], as_json=as_json)
    if not found.identical:
        raise typer.Exit(INPUT)


def _read_bundle(name: str) -> Mapping[str, Any]:
    """The bundle in the file, checked as far as a comparison needs."""
    from foveate.cli.files import display_name, read_lines
    from foveate.core.candidates import parse_json
    from foveate.core.replay import check_bundle
    from foveate.pipeline.text_files import decode_line

    data = b"\n".join(read_lines(name))
    with name_in_errors(display_name(name)):
        if not data.strip():
            raise BadInput("is empty")
        try:
            bundle = parse_json(decode_line(data))
        except BadInput as error:
            what = str(error).partition(";")[0]
            raise BadInput(
                f"this is not a bundle ({what}); `foveate assemble --bundle FILE` writes one"
            ) from None
        if not isinstance(bundle, Mapping) or bundle.get("kind") != COMPACTION:
            check_bundle(bundle)
    return bundle  # type: ignore[no-any-return]


def _compact_again(name: str, old: Mapping[str, Any], other: str | None) -> Verdict:
    from foveate.cli.files import display_name
    from foveate.pipeline.compact_json import replay_compaction

    if other is not None:
        raise typer.BadParameter("a compaction is compared with its own replay: give one file")
    with name_in_errors(display_name(name)):
        return replay_compaction(old)


def _assemble_again(name: str, old: Mapping[str, Any]) -> Mapping[str, Any]:
    from foveate import plugins
    from foveate.cli.files import display_name
    from foveate.core.assemble import assemble
    from foveate.core.replay import build_bundle, inputs_from_bundle

    with name_in_errors(display_name(name)):
        inputs = inputs_from_bundle(old, plugins.component_registry())
        tokenizer = plugins.tokenizer(str(old["manifest"].get("tokenizer", "")))
        try:
            context = assemble(inputs, tokenizer)
        except (BudgetTooSmall, StageBroke) as error:
            raise BadInput(f"cannot be assembled again: {error}") from error
        return build_bundle(inputs, context, plugins.component_registry())
