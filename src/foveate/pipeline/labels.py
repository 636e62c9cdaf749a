"""The words around page summaries and supplements, in the language of the texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from foveate.core.errors import BadOption, UnknownName
from foveate.core.render import renderer_for_recipe
from foveate.core.request import Recipe
from foveate.core.text.sentences import base_language
from foveate.core.typed import show_value

FIELDS = {
    "summary": "summary_label",
    "supplement": "supplement_label",
    "supplements_end": "supplements_end",
}
"""What a caller may put into words, and the field of a recipe that holds the words."""
LABELS = {
    "en": ("Page context", "Supplement", "End of supplements"),
    "de": ("Seitenkontext", "Ergänzung", "Ende der Ergänzungen"),
    "es": ("Contexto de la página", "Suplemento", "Fin de los suplementos"),
    "fr": ("Contexte de la page", "Complément", "Fin des compléments"),
    "it": ("Contesto della pagina", "Integrazione", "Fine delle integrazioni"),
    "nl": ("Pagina context", "Aanvulling", "Einde van de aanvullingen"),
    "pt": ("Contexto da página", "Complemento", "Fim dos complementos"),
}
"""These words by language, for recipes that have none of their own."""


def label_recipe(recipe: Recipe, language: str, labels: Mapping[str, str] | None) -> Recipe:
    """The recipe with the caller's labels, else with its own, else with those of the language.

    Raises `BadOption` or `UnknownName`.
    """
    usual = LABELS["en"]
    known = LABELS.get(base_language(language), usual)
    words = {
        field: ours
        for field, english, ours in zip(FIELDS.values(), usual, known, strict=True)
        if getattr(recipe, field) == english
    }
    for name, label in (labels or {}).items():
        if name not in FIELDS:
            raise UnknownName("label", name, FIELDS)
        if not isinstance(label, str):
            raise BadOption(f"label {name} must be a text, not {show_value(label)}")
        words[FIELDS[name]] = label
    changed = {field: label for field, label in words.items() if getattr(recipe, field) != label}
    if not changed:
        return recipe
    recipe = replace(recipe, **changed)  # type: ignore[arg-type]
    renderer_for_recipe(recipe)  # refuses what could not be read back
    return recipe
