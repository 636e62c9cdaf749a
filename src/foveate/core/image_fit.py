"""Which images of the shown candidates a context has: as image, by caption, or not at all.

Texts come first. What they leave of the budget goes to the images of the best candidates, an image
where it fits and the format has parts for it, else its caption. An image stands once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from foveate.core.images import IMAGES, MAX_IMAGES, Image, images_of
from foveate.core.images.tokens import CAPTIONS, count_image_tokens, parse_formula
from foveate.core.renditions import full_rendition, rendition_chunks
from foveate.core.request import Inputs
from foveate.core.seal import content_hash
from foveate.core.text.profile import HashedText
from foveate.core.text.sanitise import sanitise
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Block, Candidate, Chunk, Decision, rank
from foveate.core.zones import Budget

PART_TOKENS = 8
"""Tokens that the text may take more than it was counted for, where a part is put in."""

IMAGE_TOKENS = "image_tokens"
"""A note of the last stage: tokens of the images, which the context's count has beside its text."""

Way: TypeAlias = Literal["image_shown", "image_caption", "image_left_out", "image_repeated"]
"""What became of an image, as its decision says it."""


@dataclass(slots=True)
class PlacedImage:
    """An image of the candidate at `place`; `tokens` by its provider's formula."""

    place: int
    chunk_id: str
    image: Image
    tokens: int
    way: Way


@dataclass(slots=True)
class ImagePlan:
    """The images of the shown candidates, those of the best first, and what each became."""

    images: list[PlacedImage] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.images)

    @property
    def tokens(self) -> int:
        """Tokens of the images that are shown as images."""
        return sum(one.tokens for one in self.images if one.way == "image_shown")

    def add_captions(self, texts: Sequence[HashedText]) -> list[HashedText]:
        """The candidates' texts, each with a line for every image that has a place in it."""
        found = list(texts)
        for one in self.images:
            if one.way in ("image_shown", "image_caption"):
                text = f"{found[one.place].text}\n\n{caption_line(one.image)}"
                found[one.place] = HashedText(text, "")
        return [text if text.key else text._replace(key=content_hash(text.text)) for text in found]

    def add_images(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        """The blocks with the images that stand behind them, and with the pages of all images."""
        found = list(blocks)
        for one in self.images:
            block = found[one.place]
            if one.way in ("image_shown", "image_caption") and one.image.page is not None:
                block = replace(block, pages=tuple(sorted({*block.pages, one.image.page})))
            if one.way == "image_shown":
                block = replace(block, images=(*block.images, one.image))
            found[one.place] = block
        return tuple(found)

    def shrink(self, over: int) -> bool:
        """Free some `over` tokens, images of the least valued first; False if nothing is left."""
        freed = 0
        steps: tuple[tuple[Way, Way], ...] = (
            ("image_shown", "image_caption"),
            ("image_caption", "image_left_out"),
        )
        for way, instead in steps:
            for one in reversed(self.images):
                if freed < over and one.way == way:
                    one.way = instead if _caption(one.image) else "image_left_out"
                    freed += one.tokens if way == "image_shown" else PART_TOKENS
            if freed:
                return True
        return False

    def decisions(self) -> tuple[Decision, ...]:
        """One for each candidate and way: how many of its images, and their tokens."""
        grouped: dict[tuple[str, Way], list[PlacedImage]] = {}
        for one in self.images:
            grouped.setdefault((one.chunk_id, one.way), []).append(one)
        return tuple(
            Decision(
                chunk_id=chunk_id,
                action="kept" if way == "image_shown" else "changed",
                reason=way,
                numbers={"images": len(found), "tokens": sum(one.tokens for one in found)},
            )
            for (chunk_id, way), found in grouped.items()
        )


def caption_line(image: Image) -> str:
    """The line of an image in its block's text, its page and its caption in it.

    >>> caption_line(Image(media_type="image/png", width=9, height=9, hash="0" * 32, page=3))
    'Image, page 3'
    """
    page = "" if image.page is None else f", page {image.page}"
    caption = _caption(image)
    return f"Image{page}: {caption}" if caption else f"Image{page}"


def _caption(image: Image) -> str:
    """The caption in one line, without hidden characters."""
    return " ".join(sanitise(image.caption)[0].split())


def image_formula(inputs: Inputs) -> str:
    """The formula that counts images: the model's, else the format's, else captions alone."""
    own = inputs.recipe.format.image_formula
    formula = CAPTIONS if own == CAPTIONS else inputs.image_formula or own
    parse_formula(formula)
    return formula


def has_images(chunk: Chunk) -> bool:
    """Whether the chunk's metadata may hold images: asked of each chunk that is shown."""
    return bool(chunk.metadata) and IMAGES in chunk.metadata


def chunks_with_images(inputs: Inputs) -> list[Chunk]:
    """The chunks of candidates and neighbours that may have images."""
    return [*filter(has_images, (*(c.chunk for c in inputs.candidates), *inputs.neighbours))]


def with_captions_alone(inputs: Inputs) -> Inputs:
    """The inputs with captions for images: conversations are counted as texts."""
    return replace(inputs, image_formula=CAPTIONS) if chunks_with_images(inputs) else inputs


def set_aside(inputs: Inputs, room: Budget) -> int:
    """Tokens that the images of all candidates take, at most what the room keeps for images."""
    chunks = chunks_with_images(inputs) if room.images else []
    formula = image_formula(inputs) if chunks else CAPTIONS
    if formula == CAPTIONS:
        return 0
    form = inputs.recipe.format
    images = {i.reference: i for chunk in chunks for i in images_of(chunk.metadata)}
    needed = 0
    for one in images.values():
        beside = caption_line(one) + form.write_images((one,))  # no token is less than a character
        needed += count_image_tokens(formula, one.width, one.height) + PART_TOKENS + len(beside)
    return min(room.images, needed)


def plan_images(
    shown: Sequence[Candidate], inputs: Inputs, counter: TokenCounter, room: float
) -> ImagePlan:
    """What becomes of the images of the shown candidates, in `room` tokens."""
    found = _find_images(shown)
    if not found:
        return ImagePlan()
    formula, form = image_formula(inputs), inputs.recipe.format
    plan, seen, parts = ImagePlan(), set[str](), 0
    for place, chunk_id, image in found:
        way: Way = "image_caption" if _caption(image) else "image_left_out"
        one = PlacedImage(place, chunk_id, image, 0, way)
        plan.images.append(one)
        if image.reference in seen:
            one.way = "image_repeated"
            continue
        seen.add(image.reference)
        line = counter.count_rendered(counter.body(caption_line(image))) + PART_TOKENS
        if formula != CAPTIONS and image.media_type in form.image_types:
            one.tokens = count_image_tokens(formula, image.width, image.height)
            part = one.tokens + counter.count_rendered(form.write_images((image,)))
            if parts < MAX_IMAGES and line + part <= room:
                one.way, room, parts = "image_shown", room - line - part, parts + 1
                continue
        if one.way == "image_caption" and line <= room:
            room -= line
        else:
            one.way = "image_left_out"
    return plan


def _find_images(shown: Sequence[Candidate]) -> list[tuple[int, str, Image]]:
    """Place, chunk and image of every image in the chunks that are shown, the best first."""
    found: list[tuple[int, str, Image]] = []
    for place, candidate in enumerate(shown):
        for chunk in rendition_chunks(candidate, candidate.shown or full_rendition(candidate)):
            if has_images(chunk):
                found += [(place, candidate.id, image) for image in images_of(chunk.metadata)]
    return sorted(found, key=lambda one: rank(shown[one[0]]))
