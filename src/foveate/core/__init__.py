"""The pure core: values in, values out. No I/O, no clock, no randomness, no logging.

Read `types.py` (with `request.py`), `assemble.py`, `stages/floor.py` with `balance.py`,
`stages/pack/__init__.py` and `fit.py`, in this order. A stage is in `stages/`, a format in
`formats/`, each under its own name. The rest:

| what | file |
|---|---|
| the built-in recipes, and recipes as TOML | `recipes.py`, `spec.py` |
| which candidates enter | `admission.py` |
| token counts within a request | `token_counter.py` |
| the last gate of the budget | `fit.py` |
| the smallest sufficient budget | `smallest.py` |
| fusion of rankings | `fuse.py` |
| forged structure in texts | `text/escape.py` |
| hidden characters in texts | `text/sanitise.py` |
| the grammar of citation markers | `text/markers.py` |
| the markers of an answer | `text/citation_markers.py` |
| citations of a context | `blocks.py` |
| a context as JSON | `context_json.py` |
| bundles and their comparison | `replay.py` |
| the manifest, and what it hashes | `seal.py`, `manifest.py` |
| shapes of structured text; the marks of gaps | `text/shapes/find.py`, `text/shapes/gaps.py` |
| look-up by identifier | `text/words.py`, `stages/compress/features.py` |
| the weights that choose extracts | `stages/compress/score.py` |
| rows and code whose names and signatures stand in an earlier chunk | `stages/pack/heads.py` |
| short headers | `formats/numbered.py` |
| images within the budget, and their tokens | `image_fit.py`, `images/tokens.py` |
| message lists of OpenAI | `compact/openai_chat.py`, `compact/openai_responses.py` |
| message lists of Anthropic and Gemini | `compact/anthropic_messages.py`, `compact/gemini.py` |
| shortened tool results | `compact/shorten.py` |
| a session as JSON | `chat/session.py` |
| the ledger of a message list, its values | `compact/ledger.py`, `compact/values.py` |
| how a ledger is spelled and read again | `compact/ledger_text.py` |
"""
