"""The budget: tokens by zone, of which the context is one.

Not the spending of it, which is `pack`'s; and no presets, which are in `foveate.pipeline.budget`.
"""

from __future__ import annotations

from dataclasses import dataclass

from foveate.core.checks import check_zone
from foveate.core.errors import BadOption

_MAY_BE_ZERO = (
    *("system", "conversation", "query", "generation", "buffer"),
    *("per_message", "per_reply", "images"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens by zone. `documents` is what the context may take; `characters` limits it as well.

    `window` None: the model's window is not known and only the document zone is checked.
    `images`: what of `documents` is kept for images of the candidates; 0: what their texts leave.
    `per_message` and `per_reply`: what the model's chat format adds; as OpenAI documents it for
    its chat models where nothing better is known.
    """

    documents: int | None = 32_000
    characters: int | None = None
    window: int | None = 128_000
    system: int = 4_000
    conversation: int = 8_000
    query: int = 1_000
    generation: int = 4_000
    buffer: int = 1_000
    per_message: int = 4
    per_reply: int = 3
    images: int = 0

    def __post_init__(self) -> None:
        for name in _MAY_BE_ZERO:
            check_zone(name, getattr(self, name), 0)
        for name in ("documents", "characters", "window"):
            if getattr(self, name) is not None:
                check_zone(name, getattr(self, name), 1)
        if self.documents is None and self.characters is None:
            raise BadOption("budget: give documents (tokens), characters, or both")
        if self.window is not None and self.total > self.window:
            raise BadOption(
                f"budget: the zones add up to {self.total} tokens, the window is {self.window}; "
                f"take {self.total - self.window} tokens from a zone"
            )

    @property
    def total(self) -> int:
        """The sum of the zones, in tokens."""
        zones = (self.system, self.conversation, self.query, self.generation, self.buffer)
        return sum(zones) + (self.documents or 0)
