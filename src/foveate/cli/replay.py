"""`foveate replay`: make a context again from its bundle, or explain how two runs differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from foveate.cli.failures import INPUT, in_file
from foveate.cli.options import Json
from foveate.core.errors import BadInput, BudgetTooSmall, StageBroke


def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A bundle; - is stdin.")],
    other: Annotated[
        str | None, typer.Argument(metavar="[FILE2]", help="Another one, to compare it with.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Assemble a bundle again, and compare. Says `identical`, or what diverged (exit code 3).

    With two bundles: how their runs differ (exit code 0).
    """
    from foveate.cli import output
    from foveate.core.replay import verdict

    old = _bundle(file)
    found = verdict(old, _bundle(other) if other is not None else _again(file, old))
    if as_json:
        output.write_json(
            {
                "identical": found.identical,
                "stage": found.stage,
                "first": found.first,
                "causes": list(found.causes),
            }
        )
    else:
        output.write_line(str(found))
    if other is None and not found.identical:
        raise typer.Exit(INPUT)


def _bundle(name: str) -> Mapping[str, Any]:
    """What the file holds, as far as a comparison reads it."""
    from foveate.cli.files import called, decoded, raw_lines
    from foveate.core.candidates import parse_json
    from foveate.core.replay import check_kind

    data = b"\n".join(raw_lines(name))
    with in_file(called(name)):
        if not data.strip():
            raise BadInput("is empty")
        try:
            bundle = parse_json(decoded(data))
        except BadInput as error:
            what = str(error).partition(";")[0]
            raise BadInput(
                f"this is not a bundle ({what}); `foveate assemble --bundle FILE` writes one"
            ) from None
        check_kind(bundle)
    return bundle  # type: ignore[no-any-return]


def _again(name: str, old: Mapping[str, Any]) -> Mapping[str, Any]:
    """The bundle of the same inputs, assembled here and now."""
    from foveate import plugins
    from foveate.cli.files import called
    from foveate.core.assemble import assemble
    from foveate.core.replay import bundle_of, inputs_from

    with in_file(called(name)):
        inputs = inputs_from(old, plugins.known())
        tokenizer = plugins.tokenizer(str(old["manifest"].get("tokenizer", "")))
        try:
            context = assemble(inputs, tokenizer)
        except (BudgetTooSmall, StageBroke) as error:
            raise BadInput(f"cannot be assembled again: {error}") from error
        return bundle_of(inputs, context, plugins.known())
