"""The trials of an evaluation: recipes x budgets, with the options that `assemble` uses.

A trial's hash covers everything but the case that can change its result: recipe, budget, tokenizer,
embedder and our own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from foveate import plugins
from foveate._version import __version__
from foveate.core.errors import BadOption
from foveate.core.manifest import budget_hash, canonical_recipe_text, digest
from foveate.core.request import Recipe
from foveate.pipeline.options import AssembleOptions, load_recipe, resolve_options

WHOLE_POOL = "whole pool"
"""The label of all candidates joined: the most that any recipe can hold."""

_EXCLUDED_FOLDERS = ("cli", "service", "answer", "ingest")
_NONDETERMINISTIC_EMBEDDERS = ("openai",)
_PROBE_TEXTS = ("The pump starts at one bar.", "Der Brunnen hat TIEFES Wasser.", "井戸の深さは")
_HASHED_PACKAGES = ("numpy", "sentencex", "toktok-rs", "wordllama")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What an evaluation tries, as values that can be pickled.

    `recipes`: (label, recipe). `tokenizer` counts for all of them. `embedder` empty: candidates
    without vectors; `vectors`: its fingerprint.
    """

    recipes: tuple[tuple[str, Recipe], ...]
    budgets: tuple[int, ...]
    tokenizer: str = "cl100k_base"
    embedder: str = ""
    vectors: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One recipe at one budget; `options` is None and `budget` 0 for the whole pool."""

    label: str
    budget: int
    options: AssembleOptions | None
    hash: str


def build_setting(
    recipes: Sequence[str | Recipe],
    budgets: Sequence[int],
    *,
    baseline: str | Recipe = "naive",
    tokenizer: str = "cl100k_base",
    embedder: str = "",
) -> tuple[Setting, str]:
    """The setting and the baseline's label; the baseline is put first if it is not named.

    Raises `UnknownName` or `BadOption`.
    """
    plugins.tokenizer(tokenizer)
    if not recipes:
        raise BadOption("no recipe is named; give one or more")
    if not budgets:
        raise BadOption("no budget is given; give one or more, in tokens")
    if len(set(budgets)) != len(budgets):
        raise BadOption(f"a budget comes twice in {tuple(budgets)}; give each once")
    labelled = [*_label_recipes(recipes)]
    reference = next(iter(_label_recipes([baseline])))
    if reference[0] not in dict(labelled):
        labelled.insert(0, reference)
    made = Setting(
        recipes=tuple(labelled),
        budgets=tuple(sorted(budgets)),
        tokenizer=tokenizer,
        embedder=embedder,
        vectors=_embedder_fingerprint(embedder) if embedder else "",
    )
    build_trials(made)  # a budget that cannot be is refused before anything is read
    return made, reference[0]


def _label_recipes(recipes: Iterable[str | Recipe]) -> Iterable[tuple[str, Recipe]]:
    """Each recipe with its name, or its file's path if the name is taken."""
    seen: set[str] = {WHOLE_POOL}
    for given in recipes:
        recipe = load_recipe(given)
        label = recipe.name
        if isinstance(given, str) and label in seen | set(plugins.recipe_table()):
            label = given
        if label in seen:
            raise BadOption(f"the recipe {label!r} comes twice; give each its own name")
        seen.add(label)
        yield label, recipe


def build_trials(made: Setting) -> tuple[Trial, ...]:
    """The whole pool first, then every recipe at every budget."""
    counter = plugins.tokenizer(made.tokenizer)
    common = (counter.fingerprint, made.embedder, made.vectors, code_hash())
    found = [
        Trial(label=WHOLE_POOL, budget=0, options=None, hash=digest(repr((WHOLE_POOL, *common))))
    ]
    for label, recipe in made.recipes:
        for budget in made.budgets:
            options = AssembleOptions(recipe=recipe, budget=budget, tokenizer=counter)
            resolved = resolve_options(options)
            parts = (label, canonical_recipe_text(recipe), budget_hash(resolved.budget), *common)
            found.append(
                Trial(label=label, budget=budget, options=options, hash=digest(repr(parts)))
            )
    return tuple(found)


def _embedder_fingerprint(name: str) -> str:
    """A hash of some texts' vectors, which tells models of one name apart.

    For `_NONDETERMINISTIC_EMBEDDERS` the name alone.
    """
    embedder = plugins.embedder(name)
    if name.partition(":")[0] in _NONDETERMINISTIC_EMBEDDERS:
        return embedder.name
    rows = [[float(value) for value in row] for row in embedder.embed(_PROBE_TEXTS)]
    return digest(repr((embedder.name, rows)))


@lru_cache(maxsize=1)
def code_hash() -> str:
    """A hash of our source, the faces apart, and of the versions that affect results.

    Plugins are not included.
    """
    import foveate

    package = Path(foveate.__file__).parent
    files = [
        p for p in package.rglob("*.py") if p.relative_to(package).parts[0] not in _EXCLUDED_FOLDERS
    ]
    parts = [__version__]
    for path in sorted(files):
        parts += [path.relative_to(package).as_posix(), digest(path.read_text(encoding="utf-8"))]
    return digest(repr((parts, _package_versions())))


def _package_versions() -> list[str]:
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for name in _HASHED_PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return found
