"""What a model is told beside the context: one file a prompt and a language; `text.py` reads them.

They stand below the plan, because the system prompt shares the window with the documents and must
be known before those are packed.
"""

from typing import Literal, TypeAlias

Channel: TypeAlias = Literal["text", "voice"]
