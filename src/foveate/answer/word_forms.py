"""Forms of one word in the four languages that answers are checked in, and words that say little.

A claim that is right rarely has its source's endings: `entkalkt` for `entkalken`, `geboekt` for
`boeken`, `renewed` for `renew`. Cut alike, they are one word. Rules of endings join some words that
are not forms of one another; for support that is a small gain, where a search would lose by it.
"""

from __future__ import annotations

import re

_LEAST = 4
"""Letters that are left of a word at the least."""
_ENDINGS = """
    ships ship ments ment ings ing ied ies ed er ers est ly y
    ungen ung heiten heit keiten keit en em es et te ten tet test t st n e s d de den
    heden heid je jes
    ations ation eux ement ent ant ante ait aient ons ez ir re
"""
"""No `ee`, `eur` or `euse`: without them, who employs and who is employed would be one."""
_ENDING = re.compile(rf"(?:{'|'.join(sorted(_ENDINGS.split(), key=len, reverse=True))})\Z")
_PARTICIPLE = re.compile(r"ge(?=\w{4,}(?:t|d|en)\Z)")
_LIGHT = """
    can cannot could must need needs may might should ought have has had do does get gets
    somebody anybody everybody someone anyone everyone something nothing anything everything
    muss mussen musst darf durfen kann konnen soll sollen braucht brauchen man wird werden
    jemand niemand etwas nichts alles
    moet moeten mag mogen kan kunnen hoeft hoeven wordt worden men iemand iets niets
    doit doivent devez faut peut peuvent pouvez personne quelque chose rien
    most below under less fewer younger least above over more older exceed minimum maximum
    hochstens maximal unter weniger junger mindestens uber mehr alter
    hoogstens onder minder jonger maximaal minstens minimaal minste boven meer ouder
    plus moins sous
"""
LIGHT = frozenset(_LIGHT.split())
"""Auxiliaries and indefinite pronouns; words of a bound, which is compared for itself."""


def word_form(term: str) -> str:
    """What the forms of a word have in common.

    >>> word_form("entkalkt") == word_form("entkalken"), word_form("geboekt") == word_form("boeken")
    (True, True)
    >>> word_form("renewed"), word_form("train") == word_form("trail"), word_form("2024")
    ('renew', False, '2024')
    """
    if not term.isalpha() or len(term) <= _LEAST:
        return term
    term = _PARTICIPLE.sub("", term, count=1) if term.startswith("ge") else term
    found = _ENDING.search(term, _LEAST)
    return term[: found.start()] if found else term
