"""System prompts, one file a prompt and a language."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from foveate import plugins
from foveate.core.contracts import Format
from foveate.core.errors import BadInput, UnknownName
from foveate.core.formats.shared.parts import parse_content_parts
from foveate.core.formats.shared.text_format import one_line
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Block, Context
from foveate.pipeline.inputs import Channel
from foveate.pipeline.text_files import read_text_file

LANGUAGES = ("de", "en", "fr", "nl")
REFUSALS = {
    "de": "Die Unterlagen beantworten diese Frage nicht.",
    "en": "The documents do not answer this question.",
    "fr": "Les documents ne répondent pas à cette question.",
    "nl": "De documenten geven geen antwoord op deze vraag.",
}
"""What `strict` answers where the context does not."""
NAME_MARKERS = {
    "de": "[Name der Quelle]",
    "en": "[name of the source]",
    "fr": "[nom de la source]",
    "nl": "[naam van de bron]",
}
"""The example where a context shows its sources by name."""


def system_prompt(
    prompt: str = "grounded",
    *,
    marker: str | None = "[1]",
    channel: Channel = "text",
    language: str = "en",
) -> str:
    """The system prompt of that name (`grounded`, `strict`, `soft`, `voice`), or in that file.

    A file's path ends with `.md` or `.txt`. `marker`: an example of how a source is cited, None
    where sources are not cited, "" where they are cited by their names. Raises `UnknownName`, also
    for a language that it is not written in; `BadInput` for a file.

    >>> system_prompt("strict", marker="[SOURCE 1]").splitlines()[6]
    'After each statement, write the marker of the source that says it, like [SOURCE 1]. Do not ...
    >>> "marker of the source" in system_prompt("strict", channel="voice")
    False
    """
    if language not in LANGUAGES:
        raise UnknownName("language of prompts", language, LANGUAGES)
    paragraphs = _load_prompt(prompt, language).split("\n\n")
    if channel == "voice" or marker is None:
        paragraphs = _drop_marker_paragraphs(paragraphs, language)
    if channel == "voice" and prompt != "voice":
        paragraphs.append(_load_builtin_prompt("spoken", language))
    text = "\n\n".join(paragraphs).replace("{refusal}", REFUSALS[language])
    return text.replace("{marker}", marker or NAME_MARKERS[language])


def _drop_marker_paragraphs(paragraphs: list[str], language: str) -> list[str]:
    kept = [one for one in paragraphs if "{marker}" not in one]
    if any(one.strip() for one in kept):
        return kept
    return [rest for one in paragraphs if (rest := _drop_marker_sentences(one, language))]


def _drop_marker_sentences(paragraph: str, language: str) -> str:
    spans = sentence_spans(paragraph, language)
    sentences = [paragraph[first:last] for first, last in spans]
    return " ".join(one for one in sentences if "{marker}" not in one)


def _load_prompt(prompt: str, language: str) -> str:
    if prompt in plugins.PROMPTS:
        return _load_builtin_prompt(prompt, language)
    if prompt.endswith((".md", ".txt")):
        return _load_prompt_file(prompt)
    return plugins.prompt(prompt, language).replace("\r\n", "\n").strip()


@cache
def _load_builtin_prompt(prompt: str, language: str) -> str:
    file = files("foveate.pipeline.prompts").joinpath(f"{prompt}.{language}.md")
    return file.read_text(encoding="utf-8").strip()


def _load_prompt_file(name: str) -> str:
    text = read_text_file(name, f"the prompt {name}")
    if not text.strip():
        raise BadInput(f"the prompt {name}: is empty; write what the model shall do")
    text = text.strip()
    # Said now, and not when the first context comes that has nothing to cite.
    if not _drop_marker_paragraphs(text.split("\n\n"), "en"):
        raise BadInput(
            f"the prompt {name}: nothing is left of it where no markers are shown; put what speaks "
            "of {marker} in a sentence or a paragraph of its own"
        )
    return text


_SAMPLE_BLOCK = Block(marker=1, text="", source="a source", title="a title")


def marker_from_format(format: Format) -> str | None:
    """`[1]`, `[SOURCE 1]`; "" where sources are cited by name, None where they are not cited.

    >>> from foveate.core import formats
    >>> [marker_from_format(formats.BUILTIN[n]()) for n in ("xml", "source", "doc", "minimal")]
    ['[1]', '[SOURCE 1]', '', None]
    """
    if format.cited_by_provider:
        return None
    label = format.label(_SAMPLE_BLOCK)
    if label not in (_SAMPLE_BLOCK.source, _SAMPLE_BLOCK.title):
        return _example_marker(label, 1)
    return "" if label in format.header(_SAMPLE_BLOCK, None) else None


def marker_from_context(context: Context) -> str | None:
    """The same, from what was rendered; None where it shows nothing that could be cited."""
    if not context.citations or is_cited_by_provider(context):
        return None
    first = context.citations[0]
    if first.label not in (one_line(first.source), one_line(first.title)):
        return _example_marker(first.label, first.marker)
    return "" if one_line(first.label) in context.text[: context.blocks[0].span[0]] else None


def is_cited_by_provider(context: Context) -> bool:
    """Whether its blocks are such that the provider says what cites them."""
    parts = parse_content_parts(context) or ()
    return any(part["type"] in ("document", "search_result") for part in parts)


def _example_marker(label: str, marker: int) -> str:
    first = label.replace(str(marker), "1")
    return first if first.startswith("[") else "[1]"
