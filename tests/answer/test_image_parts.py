"""Images in messages: as the providers' own types have them, with bytes where a hash is named."""

from __future__ import annotations

from base64 import b64decode

import pytest

from foveate import BadInput, BadOption, ExternalError, assemble, messages
from foveate.answer.messages import (
    format_for_anthropic,
    format_for_openai,
    format_for_responses,
    image_tokens,
)
from foveate.answer.read_back import parse_message
from foveate.core.images import image_from_bytes
from foveate.core.images.tokens import count_image_tokens
from foveate.ports import text_from_content
from provider_types import check_request

DATA = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0\0\0\x01\0" + b"pixels"
OWN = image_from_bytes(DATA, caption="The wheel.", page=2)
PLAN = {
    "url": "https://mill.example/plan.png",
    "media_type": "image/png",
    "width": 512,
    "height": 512,
    "caption": "The plan.",
}
FOUND = [{"text": "The mill was built in 1880.", "source": "mill.pdf", "images": [PLAN, OWN]}]


def context_of(name, **options):
    """The candidate with both images."""
    return assemble("How old is the mill?", FOUND, budget=9_000, format=name, **options)


@pytest.mark.parametrize("name", ["anthropic-document", "anthropic-search-result"])
def test_anthropic_takes_the_parts(name, tmp_path):
    """U1: an `image` block each, by address or with its bytes."""
    (tmp_path / OWN.hash).write_bytes(DATA)
    sent = format_for_anthropic(messages(context_of(name), images=tmp_path))
    check_request("anthropic", sent)
    sources = [p["source"] for p in sent["messages"][0]["content"] if p["type"] == "image"]

    assert sources[0] == {"type": "url", "url": PLAN["url"]}
    assert (sources[1]["type"], sources[1]["media_type"]) == ("base64", "image/png")
    assert b64decode(sources[1]["data"]) == DATA


def test_openai_takes_the_parts():
    """U1: `image_url` parts of chat completions, `input_image` of responses."""
    sent = messages(context_of("openai-parts"), images=lambda name: {OWN.hash: DATA}[name])
    chat, responses = format_for_openai(sent), format_for_responses(sent)
    check_request("openai", chat)
    check_request("responses", responses)
    urls = [p["image_url"]["url"] for p in chat[-1]["content"] if p["type"] == "image_url"]

    assert urls[0] == PLAN["url"]
    assert b64decode(urls[1].removeprefix("data:image/png;base64,")) == DATA
    assert [p["type"] for p in responses[-1]["content"]].count("input_image") == 2


@pytest.mark.parametrize("name", ["openai-parts", "anthropic-document", "anthropic-search-result"])
def test_a_message_with_images_is_read_back(name):
    """R3: the same block and question, with the bytes in place."""
    context = context_of(name)
    content = messages(context, images=lambda _: DATA)[-1]["content"]
    parsed = parse_message(content)

    assert [block.text for block in parsed.blocks] == [block.text for block in context.blocks]
    assert parsed.question == context.query
    assert "iVBOR" not in text_from_content(content)


def test_bytes_are_checked_against_their_hash(tmp_path):
    """U1: no source, no file, and other bytes are three errors that say what to do."""
    context = context_of("openai-parts")
    with pytest.raises(BadOption, match=f"by its hash, {OWN.hash}.*images=DIRECTORY"):
        messages(context)
    with pytest.raises(ExternalError, match=f"image {OWN.hash}: no file in"):
        messages(context, images=tmp_path)
    with pytest.raises(BadInput, match="its bytes are others than were hashed"):
        messages(context, images=lambda _: DATA + b"!")


@pytest.mark.parametrize("name", ["openai-parts", "anthropic-document", "anthropic-search-result"])
def test_an_image_without_bytes_can_be_left_out(name):
    """U1: where the function of the hash gives None; the rest of the message stays."""
    whole = messages(context_of(name), images=lambda _: DATA)[-1]["content"]
    less = messages(context_of(name), images=lambda _: None)[-1]["content"]

    assert less == [part for part in whole if "iVBOR" not in str(part)]
    assert len(less) == len(whole) - 1


@pytest.mark.parametrize(
    ("model", "formula"),
    [
        ("gpt-4o", "tiles 512 2048 768 85 170"),
        ("gemini-2.5-pro", "crops 384 256 768 258"),
        ("gpt-5-nano", "patches 32 0 1536 2.46"),
    ],
)
def test_the_model_named_counts_its_images(model, formula):
    """A7: the registry's formula, in the context's count and in the request's window."""
    context = context_of("openai-parts", model=model)
    expected = sum(count_image_tokens(formula, *size) for size in ((512, 512), (512, 256)))

    assert image_tokens(context) == expected
    assert messages(context, images=lambda _: DATA)
