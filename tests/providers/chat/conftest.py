"""Models whose attempts follow one another at once."""

from __future__ import annotations

import pytest

from foveate.providers.chat import chat_base


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Three attempts."""
    monkeypatch.setattr(chat_base, "RETRIES", 2)
    monkeypatch.setattr(chat_base, "BACKOFF_SECONDS", 0.01)
