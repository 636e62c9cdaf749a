"""Search terms of a text, the same for documents and for queries.

A query has no operators. Everything is indexed; stop words of the query's language are left out of
queries alone. Scripts without spaces give single characters and pairs. The terms are part of every
store on disk: a change raises `schema.VERSION`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from foveate.core.text.word_arrays import Alphabet
from foveate.core.text.words import beyond_ascii

# Vowel signs of the Indic scripts belong to words but are no letters for `\w`.
_SIGNS = "\u0900-\u0963\u0971-\u0dff"
# Optional marks: Latin, Greek and Cyrillic accents; Hebrew points; Arabic vowels and tatweel.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670"
)
# Han, kana, hangul, Thai, Lao, Myanmar, Khmer: written without spaces, or with few.
_UNSPACED = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:[^\W_{_UNSPACED}]|[{_SIGNS}])+")
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
_OPTIONAL = re.compile(f"[{_MARKS}]+")
_NO_TERM = re.compile(rf"[^\x00-\x7f\w{_SIGNS}{_UNSPACED}]+")
"""Dashes, quotation marks and the like: most texts have no other signs beyond ASCII."""
_ASCII = bytes(ord(chr(c).lower()) if c < 0x80 and chr(c).isalnum() else 0x20 for c in range(0x100))
"""What `_WORD` and `fold` do to ASCII, as a table of bytes, which is faster."""
_ACRONYM = re.compile(r"\b(?!(?:AND|OR|NOT)\b)[A-Z]{2,}\b")
"""In capitals, the three stand for operators, which a query has none of."""
_COMPOUND = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]*+[a-z0-9]++[A-Z]|[A-Z]{2,}+[a-z]{2})[A-Za-z0-9]*+"
)
_PARTS = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+|[a-z]{2,}|[0-9]{2,}")
_CASES = bytes(97 if chr(c).islower() else 65 if chr(c).isupper() else 32 for c in range(0x100))
_LONGEST = 64
STEM = 5
"""Letters of a term that count."""


def document_terms(text: str) -> list[str]:
    """Every term of a text, in order, repeats included.

    >>> document_terms("The cafés of Zürich, 猫が")
    ['the', 'cafe', 'of', 'zurich', '猫', 'が', '猫が']
    >>> document_terms("HTTPServer.getUserById")
    ['httpserver', 'http', 'server', 'getuserbyid', 'get', 'user', 'by', 'id']
    """
    words = _split_words(split_compounds(text))
    if text.isascii() or not _UNSPACED_SIGN.search("".join(words)):
        return [stem(word) if word[-1] == "s" else word for word in words]  # a call is dear
    return [term for word in words for term in _word_terms(word)]


def query_terms(text: str) -> list[str]:
    """The distinct terms that a query looks for, sorted; stop words only where nothing else is.

    In capitals, a stop word is an acronym, if not all of the query is in capitals.

    >>> query_terms("What are the opening hours of the museum?")
    ['hour', 'museum', 'opening']
    >>> query_terms("Who leads the WHO?")
    ['lead', 'who']
    """
    words = _split_words(split_compounds(text))
    stop = _detect_stop_words(words)
    if any(map(str.islower, text)):
        stop -= set(map(str.lower, _ACRONYM.findall(text)))
    telling = [word for word in words if word not in stop] or words
    terms: set[str] = set()
    for word in telling:
        if not _UNSPACED_SIGN.match(word):
            terms.add(stem(word))
        elif len(word) == 1:
            terms.add(word)
        else:
            terms.update(word[i : i + 2] for i in range(len(word) - 1))
    return sorted(terms)


def stem(word: str) -> str:
    """The word without a plural s, by the three rules of Harman's S-stemmer.

    Harman, "How effective is suffixing?", JASIS 42(1), 1991. Six question sets (five English, one
    German) gave the same mean nDCG@10 with it as with Snowball English, to 0.002; a German stemmer
    was 0.025 better on the German one, and is left out so that one rule holds for mixed stores.

    >>> [stem(w) for w in ("queries", "houses", "cats", "class", "bus")]
    ['query', 'house', 'cat', 'class', 'bus']
    """
    if len(word) <= 3 or word[-1] != "s":
        return word
    if word.endswith("ies"):
        return word if word[-4] in "ae" else word[:-3] + "y"
    if word.endswith("es"):
        return word if word[-3] in "aeo" else word[:-1]
    return word if word[-2] in "us" else word[:-1]


def split_compounds(text: str) -> str:
    """The text with the parts of each camelCase name behind it; those of one letter left out.

    >>> split_compounds("parseJSON5, iPhone, URLs")
    'parseJSON5 parse JSON, iPhone Phone, URLs'
    """
    if next(compound_places(text), None) is None:  # as in most texts
        return text
    return _COMPOUND.sub(lambda name: " ".join((name[0], *_PARTS.findall(name[0]))), text)


def compound_places(text: str) -> Iterator[int]:
    """Places inside words that may be such names; where there is none, no word is one."""
    cases = text.encode("latin-1", "replace").translate(_CASES)
    for change in (b"aA", b"AAaa"):
        at = cases.find(change)
        while at >= 0:
            yield at
            at = cases.find(change, at + 1)


def keys(terms: list[str]) -> list[str]:
    """The terms, cut: what a question and a text are compared by."""
    return [term[:STEM] for term in terms]


def fold(text: str) -> str:
    """The text without what makes no difference to a search: case, accents, forms of letters."""
    if text.isascii():
        return text.lower()
    apart = normalize("NFKD", text)
    if _OPTIONAL.search(beyond_ascii(apart)):
        apart = _OPTIONAL.sub("", apart)
    return normalize("NFC", apart).casefold()


ALPHABET = Alphabet(rf"[^\W_{_UNSPACED}]|[{_SIGNS}]", f"[{_UNSPACED}]", fold)
"""The characters that search terms are made of, after `fold`."""


def _split_words(text: str) -> list[str]:
    folded = text if text.isascii() else _NO_TERM.sub(" ", fold(text))
    if folded.isascii():
        found = folded.encode().translate(_ASCII).decode().split()
    else:
        found = _WORD.findall(folded)
    return [word[:_LONGEST] for word in found]


def _word_terms(word: str) -> tuple[str, ...]:
    if not _UNSPACED_SIGN.match(word):
        return (stem(word),)
    return (*word, *(word[i : i + 2] for i in range(len(word) - 1)))


def _detect_stop_words(words: list[str]) -> frozenset[str]:
    """The list of the language that most of these words are stop words in; ties: first listed."""
    best: frozenset[str] = frozenset()
    hits = 0
    for stop in STOP_WORDS.values():
        found = sum(word in stop for word in words)
        if found > hits:
            best, hits = stop, found
    return best


_LISTS = {
    "en": (
        "a about after all also am an and any are as at be because been before being between both "
        "but by can could d did do does doing during each for from had has have having he her "
        "here hers him his how i if in into is it its just ll m may me might more most must my no "
        "nor not of off on once only or other our out over own re s shall she should so some such "
        "t than that the their them then there these they this those through to too under until "
        "up us ve very was we were what when where which while who whom whose why will with would "
        "you your"
    ),
    "de": (
        "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein "
        "dem den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein "
        "eine einem einen einer eines er es etwas fur hat hatte haben ich ihr ihre ihrem ihren "
        "ihrer im in ist ja jede jeder kann kein keine konnen man mein mit nach nicht noch nun nur "
        "ob oder ohne sehr sein seine seit sich sie sind so uber um und uns unser unter vom von "
        "vor wann war waren warum was welche welcher welches wem wen wenn wer werden wie wieder "
        "wird wo wurde wurden zu zum zur zwischen"
    ),
    "fr": (
        "a ai alors au aucun aussi autre aux avec avoir c ce cela ces cet cette ceux chaque comme "
        "comment d dans de des depuis donc dont du elle elles en encore entre est et etait ete "
        "etre eux fait il ils j je l la le les leur leurs lui m ma mais me meme mes moi mon n ne "
        "nos notre nous on ont ou par pas peut plus pour pourquoi qu quand que quel quelle "
        "quelles quels qui quoi s sa sans se ses si son sont sous sur ta te tes toi ton tous tout "
        "toute tres tu un une vos votre vous y"
    ),
    "es": (
        "a al algo ante antes aquel aqui asi aunque cada como con contra cual cuales cuando cuanto "
        "de del desde donde dos el ella ellas ellos en entre era es esa ese eso esta estan estas "
        "este esto estos fue ha hace han hasta hay la las le les lo los mas me mi mis muy nada ni "
        "no nos nosotros o otra otro para pero por porque que quien quienes se sea segun ser si "
        "sin sobre son su sus tambien te tiene todo todos tu tus un una uno unos y ya yo"
    ),
    "nl": (
        "aan al alle als altijd ben bij daar dan dat de der deze die dit doen door dus een en er "
        "geen ge had heb hebben heeft hem het hier hij hoe hun iets ik in is ja je kan kon kunnen "
        "maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over "
        "te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we "
        "welke wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou"
    ),
    "it": (
        "a ad agli ai al alla alle allo anche avere c che chi ci come con cosa cui d da dagli dai "
        "dal dalla dalle de degli dei del della delle dello di dove e ed era essere fu gli ha "
        "hanno i il in io l la le lei li lo loro lui ma mi mio ne negli nei nel nella nelle no "
        "noi non o ogni per perche piu possono puo quale quali quando quanto quella quelle quello "
        "questa queste questi questo se si sia sono sua sue sul sulla suo tra tu tutti tutto un "
        "una uno vi voi"
    ),
    "pt": (
        "a ao aos as ate com como da das de dela dele deles depois do dos e ela elas ele eles em "
        "entre era essa esse esta este eu foi ha isso isto ja la lhe mais mas me mesmo meu minha "
        "muito na nao nas nem no nos o onde os ou para pela pelas pelo pelos por porque qual "
        "quais quando que quem se sem ser seu seus so sua suas tambem te tem um uma voce voces"
    ),
}

STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
