"""What the page knows from the package: sentences, light words, zones."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import lru_cache

from foveate.core.text.stopwords import STOP_WORDS
from foveate.core.zones import Budget
from foveate.service.playground.charts import own_styles
from foveate.words import COUNTERFACTUALS, SENTENCES, SEVERAL, STITCHED


@lru_cache(maxsize=1)
def known() -> bytes:
    """One JSON object: `js/known.js` says what the page does with each part."""
    return json.dumps(
        {
            "sentences": dict(SENTENCES),
            "stitched": STITCHED,
            "counterfactuals": dict(COUNTERFACTUALS),
            "several": SEVERAL.pattern,
            "light": {language: sorted(words) for language, words in STOP_WORDS.items()},
            "zones": {field.name: field.default for field in fields(Budget)},
            "styles": own_styles(),
        },
        ensure_ascii=False,
    ).encode()
