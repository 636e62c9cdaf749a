"""What only Ollama's protocol has: the size of the context, which must hold all that is sent."""

from __future__ import annotations

import pytest

from foveate.providers.chat import load_model
from model_servers import serving


@pytest.mark.parametrize(
    ("size", "wanted", "context"),
    [(10, 50, 4_096), (4_000, 80, 4_096), (4_000, 81, 8_192), (30_000, 1_000, 32_768)],
)
def test_the_context_holds_what_is_sent_and_what_is_asked_for(size, wanted, context):
    """F8, B1: a token a byte at the worst, for what does not fit is cut without a word."""
    with serving("ollama") as server:
        message = {"role": "user", "content": "é" * (size // 2)}
        load_model(server.name).complete([message], max_tokens=wanted)

    options = server.requests[0]["options"]
    assert (options["num_ctx"], options["num_predict"]) == (context, wanted)
    assert size + wanted <= context
