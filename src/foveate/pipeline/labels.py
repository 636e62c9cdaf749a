"""The label before page summaries, in the language of the texts (SPEC R2)."""

from __future__ import annotations

from dataclasses import replace

from foveate.core.request import Recipe
from foveate.core.text.sentences import base_language

LABELS = {
    "en": "Page context",
    "de": "Seitenkontext",
    "es": "Contexto de la página",
    "fr": "Contexte de la page",
    "it": "Contesto della pagina",
    "nl": "Pagina context",
    "pt": "Contexto da página",
}
"""By language, for recipes that have no label of their own."""


def label_recipe(recipe: Recipe, language: str) -> Recipe:
    """The recipe with its own label, else with that of the language."""
    usual = LABELS["en"]
    label = LABELS.get(base_language(language), usual)
    if recipe.summary_label != usual or label == usual:
        return recipe
    return replace(recipe, summary_label=label)
