"""Where a claim says the opposite of the passage that supports it best, or something else of it.

Words alone cannot tell: "is not open" shares all words with "is open". Four differences are found,
each where claim and passage speak of the same thing: a statement negated in one and not in the
other, a figure with another unit, a figure with another bound, two figures that changed places.
Everything else is left to a scorer, or to a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from foveate.answer.figures import normalise_numbers
from foveate.answer.quantities import FIGURE, ONE, UNITS, quantities, units_of_figures
from foveate.answer.word_forms import word_form
from foveate.core.text.terms import query_terms
from foveate.core.text.words import split_words

Contradiction: TypeAlias = Literal["negated", "other_unit", "other_bound", "swapped_figures"]

_NEGATION_WORDS = """
    not no never none neither nor without cannot nicht kein keine keinen keinem keiner keines
    nie niemals ohne weder niet geen nooit zonder noch pas jamais sans aucun aucune ni
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_CLAUSE = re.compile(
    r"[,;!?()–—]|[:.](?!\d)|\b(?:and|but|or|while|und|aber|oder|en|maar|of|et|mais|ou)\b",
    re.IGNORECASE,
)
_SAME_CLAUSE = 0.75
"""Share of a clause's terms from which two clauses speak of the same thing."""
_CLEARLY = 0.5
"""By how much crossed figures must fit better than straight ones."""
_RATE = re.compile(
    rf"(?:per|a|an|each|every|pro|im|je|par)[ -]({'|'.join(filter(str.isalpha, UNITS))})\b"
)
_AT_MOST = re.compile(
    r"\b(?:(?:not|no|never|cannot|niet|nooit|nicht|nie|pas|jamais)\s+(?:\w+\s+){0,2}"
    r"(?:(?:exceeds?|more than|meer dan|mehr als|über|boven|plus de)\b|(?=dépasse)))"
    r"|\b(?:at most|maximum(?: of| de| van)?|maximal|up to|limit(?: of| de| van)?|höchstens|"
    r"hoogstens|maximaal|au plus|bis zu)\b"
)
_MOST = (
    "at most|most|below|under|less than|fewer than|younger than|höchstens|maximal|unter|"
    "weniger als|jünger als|hoogstens|onder|minder dan|jonger dan|maximaal|au plus|moins de|sous"
)
_LEAST = (
    "at least|least|minimum|above|over|more than|stronger than|older than|exceeds?|mindestens|"
    "über|mehr als|minstens|minimaal|ten minste|boven|meer dan|au moins|plus de"
)
_BOUND_WORDS = frozenset(re.findall(r"\w+", f"{_MOST} {_LEAST}"))
_BOUND = re.compile(rf"\b(?:({_MOST})|{_LEAST})\b")
_NEAR_A_FIGURE = 12
"""Characters between a bound and its figure: an article, or `of`."""
_END = r"(\d+(?:\.\d+)?|one|een|één|eine?|eins|une?)"
_RANGE = re.compile(
    rf"\b(?:between|zwischen|tussen|entre) {_END}(?: ?[^\W\d]+| ?[€$£%°]\w?)? "
    rf"(?:and|und|en|et) {_END}"
    rf"|(?<!from )(?<!von )(?<!van )(?<!de )(?<![\w.-]){_END} ?(?:to|bis|tot|à|[-–]) ?{_END}"
)
"""From one figure to another; not `rises from 1 to 2 bar`, after which it is at 2 bar."""
_HEDGE = re.compile(
    r"\b(?:(?:up to|until|till|from|below|under|over|above|than|if|can|may|not|within|"
    r"bis|ab|unter|über|ca|rund|fast|kann|nicht|wenn|innerhalb|binnen|"
    r"tot|onder|boven|kan|mag|niet|sous|plus|moins|peut|pas|si|dans)\b|"
    r"limit|reach|exceed|start|begin|end|highest|lowest|largest|smallest|longest|shortest|latest|"
    r"earliest|worst|upper|lower|least|most|maxim|minim|about|around|roughly|approx|nearly|almost|"
    r"could|might|sometimes|enough|"
    r"höchst|mindest|größt|kleinst|längst|spätest|frühest|grenze|ungefähr|etwa|circa|können|darf|"
    r"erreich|vanaf|hoogst|laagst|minst|grootst|kleinst|uiterst|uiterlijk|grens|ongeveer|bijna|"
    r"bereik|jusqu|environ|presque|partir|attein)"
)
"""Words, and beginnings of words, with which a claim does not say that a figure is exact."""
_ONCE = re.compile(r"\b(?:once|einmal|eenmaal|une fois)\b")


def contradictions(claim: str, passage: str) -> tuple[Contradiction, ...]:
    """What of the claim the passage says otherwise.

    >>> contradictions("The pump does not start at 3 bar.", "The pump starts at 3 bar.")
    ('negated',)
    >>> contradictions("It takes 5 g a day.", "It takes 5 mg a day."), contradictions("A.", "A.")
    (('other_unit',), ())
    >>> contradictions("Keep it at two bar.", "Keep it between one and two bar.")
    ('other_bound',)
    >>> contradictions("Heat is 40, cold is 60.", "Cold is 40, heat is 60.")
    ('swapped_figures',)
    """
    claim, passage = map(_plain, (claim, passage))
    found: list[Contradiction] = []
    if _is_negated(claim, passage):
        found.append("negated")
    if _has_other_unit(claim, passage):
        found.append("other_unit")
    if _has_other_bound(claim, passage) or _is_end_of_range(claim, passage):
        found.append("other_bound")
    if any(wrong(claim, passage) for wrong in (_is_swapped, _is_misplaced, _is_another)):
        found.append("swapped_figures")
    return tuple(found)


def _plain(text: str) -> str:
    """In lower case, with numbers in one spelling; `never exceeds` says `at most`."""
    plain = ONE.sub("1", _ONCE.sub("1", normalise_numbers(text)))
    return _AT_MOST.sub("at most", plain)


def _clauses(text: str) -> Iterator[tuple[frozenset[str], bool]]:
    """The terms of each clause, and whether it negates."""
    for part in _CLAUSE.split(text):
        words = split_words(part)
        negations = (
            sum(word in _NEGATIONS for word in words) + part.count("n't") + part.count("n’t")
        )
        terms = _forms(part) - _NEGATIONS
        if terms:
            yield terms, negations % 2 == 1


def _is_negated(claim: str, passage: str) -> bool:
    """Whether a clause is negated in one text and the clause nearest to it is not in the other."""
    known = list(_clauses(passage))
    for terms, negated in _clauses(claim):
        if len(terms) < 2:
            continue
        shares = [
            (len(terms & there) / min(len(terms), len(there)), turned)
            for there, turned in known
            if len(terms & there) > 1
        ]
        best = max((share for share, _ in shares), default=0.0)
        if best < _SAME_CLAUSE:
            continue
        if all(turned != negated for share, turned in shares if share == best):
            return True
    return False


def _has_other_unit(claim: str, passage: str) -> bool:
    return any(_differs(of(claim), of(passage)) for of in (units_of_figures, _rates))


def _differs(claim: Iterable[tuple[str, str]], passage: Iterable[tuple[str, str]]) -> bool:
    """Whether a figure has a value in both, and none of the passage's is the claim's."""
    there: dict[str, set[str]] = {}
    for figure, value in passage:
        there.setdefault(figure, set()).add(value)
    return any(
        value and figure in there and "" not in there[figure] and value not in there[figure]
        for figure, value in claim
    )


def _rates(text: str) -> Iterator[tuple[str, str]]:
    """Each figure of a clause that names one period, and that period: 5 euros a day."""
    for part in _CLAUSE.split(text):
        periods = {UNITS[found[1]] for found in _RATE.finditer(part)}
        period = min(periods) if len(periods) == 1 else ""
        yield from ((found[2], period) for found in FIGURE.finditer(part))


def _has_other_bound(claim: str, passage: str) -> bool:
    """Whether a figure is a lower bound in one text and an upper bound in the other."""
    return _differs(_bounds(claim), _bounds(passage))


def _bounds(text: str) -> Iterator[tuple[str, str]]:
    for found in FIGURE.finditer(text):
        before = text[max(0, found.start() - 40) : found.start()]
        last = max(_BOUND.finditer(before), key=lambda one: one.end(), default=None)
        near = last is not None and len(before) - last.end() <= _NEAR_A_FIGURE
        yield found[2], ("most" if last[1] else "least") if near and last else ""


def _is_end_of_range(claim: str, passage: str) -> bool:
    """Whether the claim states as exact one end of a range, which the passage does not."""
    if _HEDGE.search(claim):
        return False
    stated = set(_counted(claim)) - set(_counted(_RANGE.sub(" ", passage)))
    named = {_end(found[0]) for found in re.finditer(rf"\b{_END}\b", claim)}
    for low, high, counted in _ranges(passage):
        if not stated.isdisjoint([(low, counted), (high, counted)]):
            return not {low, high} <= named
    return False


def _ranges(text: str) -> Iterator[tuple[str, str, str]]:
    """Both ends of each range, and what they count; a score and the hours of a day are none."""
    for found in _RANGE.finditer(text):
        low, high = map(_end, filter(None, found.groups()))
        if float(low) >= float(high):
            continue
        figure = FIGURE.match(high + text[found.end() :])
        counted = _what(figure) if figure else ""
        if counted not in ("", "h"):
            yield low, high, counted


def _end(word: str) -> str:
    return word if word[0].isdigit() else "1"


def _counted(text: str) -> Iterator[tuple[str, str]]:
    """Each figure of a text with what it counts, if that is said."""
    for found in FIGURE.finditer(text):
        if counted := _what(found):
            yield found[2], counted


def _what(figure: re.Match[str]) -> str:
    """What a figure counts: its unit, or the word behind it; else empty."""
    ((_, unit),) = units_of_figures(figure[0])
    return unit or (word_form(figure[3]) if figure[3] else "")


def _is_swapped(claim: str, passage: str) -> bool:
    """Whether two figures of the claim stand beside each other's words in the passage."""
    mine, theirs = dict(_beside(claim)), dict(_beside(passage))
    shared = [figure for figure in mine if figure in theirs]
    for n, one in enumerate(shared):
        for other in shared[n + 1 :]:
            kept = _overlap(mine[one], theirs[one]) + _overlap(mine[other], theirs[other])
            crossed = _overlap(mine[one], theirs[other]) + _overlap(mine[other], theirs[one])
            if crossed > kept + _CLEARLY:
                return True
    return False


def _is_misplaced(claim: str, passage: str) -> bool:
    """Whether a figure's clause in the passage shares no word, and another figure's has them."""
    places: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for figure, unit, terms in _with_unit(passage):
        places.setdefault(unit, []).append((figure, terms))
    for figure, unit, terms in _with_unit(claim):
        here = [len(terms & there) for one, there in places.get(unit, ()) if one == figure]
        other = [len(terms & there) for one, there in places.get(unit, ()) if one != figure]
        if here and other and not max(here) and max(other):
            return True
    return False


def _is_another(claim: str, passage: str) -> bool:
    """Whether the passage says the same of another figure, and nothing of the claim's."""
    known = list(_with_unit(passage))
    there = {figure for figure, _ in units_of_figures(passage)}
    same = {quantity for _, quantity in quantities(passage)}
    of_figures = dict(quantities(claim))
    for figure, unit, terms in _with_unit(claim):
        if figure in there or of_figures.get(figure) in same or len(terms) < 2:
            continue
        if any(unit == u and len(terms & t) >= _SAME_CLAUSE * len(terms) for _, u, t in known):
            return True
    return False


def _with_unit(text: str) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Each figure with a unit in a clause that has one, with the other words of its clause."""
    for part in _CLAUSE.split(text):
        figures = units_of_figures(part)
        if len(figures) == 1 and figures[0][1]:
            words = _forms(FIGURE.sub(" ", part)) - _BOUND_WORDS
            yield (*figures[0], words)


def _beside(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each figure of a clause that has one, with the other terms of its clause."""
    for part in _CLAUSE.split(text):
        figures = [found[2] for found in FIGURE.finditer(part)]
        if len(figures) == 1:
            yield figures[0], _forms(part) - {figures[0]}


def _forms(text: str) -> frozenset[str]:
    return frozenset(map(word_form, query_terms(text)))


def _overlap(mine: frozenset[str], theirs: frozenset[str]) -> float:
    both: Sequence[str] = sorted(mine & theirs)
    return 2 * len(both) / max(1, min(len(mine), len(theirs)))
