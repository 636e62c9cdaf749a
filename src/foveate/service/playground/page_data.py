"""What the page knows from the package: sentences, light words, zones."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import lru_cache

from foveate.core.text.stopwords import STOP_WORDS
from foveate.core.zones import Budget
from foveate.pipeline.reason_messages import (
    COUNTERFACTUALS,
    REASON_SENTENCES,
    SINGULAR_PATTERN,
    STITCHED_SENTENCES,
)
from foveate.service.playground.charts import own_styles


@lru_cache(maxsize=1)
def page_data_json() -> bytes:
    """One JSON object: `js/known.js` says what the page does with each part."""
    return json.dumps(
        {
            "sentences": dict(REASON_SENTENCES),
            "stitched": STITCHED_SENTENCES,
            "counterfactuals": dict(COUNTERFACTUALS),
            "several": SINGULAR_PATTERN.pattern,
            "light": {language: sorted(words) for language, words in STOP_WORDS.items()},
            "zones": {field.name: field.default for field in fields(Budget)},
            "styles": own_styles(),
        },
        ensure_ascii=False,
    ).encode()
