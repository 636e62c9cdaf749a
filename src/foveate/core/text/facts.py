"""The facts that two texts must agree on before one may replace the other, in reading order.

1. numbers  Every run with a digit, with its sign, comparison, currency, glued letters and unit:
   -5, >=5, 5mg, 5%, 12:30, 2024-01-31, B12. Case and spelling count (mW is not MW).
2. marks    Negations, words of quantity, duty and condition, months, days, spelled numbers, units.
   English, German, French, Spanish, Dutch, Italian, Portuguese, Russian, Chinese, Japanese;
   negations alone in Swedish, Norwegian, Danish, Polish, Turkish, Korean. "don't", "cannot" and
   "not" are one mark. A question mark is one, with the word before it. Ambiguous month names and
   bounds (under, than) count beside a number only. In code, `!` and operators between spaces.

A mark too many only keeps apart two texts that could have been one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foveate.core.text.words import beyond_ascii, split_words

_LETTER = "A-Za-z\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_CJK_UNIT = (
    "平方公里|平方米|公里|公斤|千克|毫克|毫升|厘米|毫米|小时|小時|分钟|分鐘|时间|個月|个月|百万|"
    "[年月日号號时時点點分秒元円圆米克吨噸升度万萬亿億千百个個岁歳人次倍]"
)
_FRACTION = "½¼¾⅐-⅞"
_NUMBER = re.compile(
    rf"[\d{_FRACTION}](?:[.,:/'’–-]?[\d{_FRACTION}{_LETTER}])*"
    rf"(?=[ \u00a0\u202f]?([%‰°$€£¥₹％][A-Z]?+(?!\w)|(?:{_CJK_UNIT})++|"
    r"[A-Za-zµμΩ²³]++(?:/[A-Za-zµμΩ²³]++)?+(?!\w))?)"
)
_HEAD = re.compile(r"([<>≤≥≠≈~±]=? ?)?((?<!\w)[+−-])?([$€£¥₹] ?)?\Z")
_HEAD_SIGNS = frozenset("<>≤≥≠≈~±=+−-$€£¥₹")
_ONE_SPELLING = str.maketrans("０１２３４５６７８９−％μ", "0123456789-%µ")
_UNIT_WORDS = """
    kg g mg µg μg mcg ng lb lbs oz t km m cm mm µm μm nm mi ft yd in sqm ha
    h hr hrs min mins s sec secs ms µs μs ns d wk yr l L ml mL dl cl µl mol mmol IU ppm ppb dB
    K C F W mW kW MW GW Wh kWh MWh GWh V mV kV A mA Ah mAh J kJ MJ cal kcal N Pa hPa kPa MPa bar psi
    Hz kHz MHz GHz B kB KB MB GB TB PB KiB MiB GiB TiB kbit Mbit Gbit bps kbps Mbps Gbps fps rpm px
    percent Prozent procent k M bn Mio Mrd thousand million billion trillion millions billions
    Million Millionen Milliarde Milliarden milliard milliards millones milhões mila milioni miljoen
    second seconds minute minutes hour hours day days week weeks month months year years am pm AM PM
    Sekunde Sekunden Minute Minuten Stunde Stunden Tag Tage Tagen Woche Wochen Monat Monate Jahr
    Jahre Jahren heure heures jour jours semaine semaines mois an ans année années segundos minutos
    hora horas día días semana semanas mes meses año años minuti ore giorno giorni mesi anno anni
    minuten uur dag dagen maand maanden jaar dia dias ano anos minuto
    USD EUR GBP CHF JPY CNY RMB SEK NOK DKK PLN dollars euros euro Euro pounds dollar cents
    meters metres kilometers kilometres miles feet inches grams kilograms litres liters tons tonnes
"""
_TURNING_WORDS = """
    not no never none nobody nothing nowhere neither nor without cannot except unless
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder ohne
    ne n pas non jamais rien aucun aucune ni sans sauf
    nunca jamás nada nadie ninguno ninguna ningún sin tampoco
    niet geen nooit niets niemand zonder nergens
    mai niente nessuno nessuna nessun né senza nulla
    não ninguém nenhum nenhuma nem sem
    не нет ни никогда без нельзя никто никого ничто ничего нигде никакой никакая никакие никаких
    inte icke ej aldrig ingen inget inga ingenting utan varken knappt
    ikke ikkje aldri intet uten uden hverken verken
    nie nigdy nikt nikogo nic żaden żadna żadne żadnych bez ani nigdzie
    değil yok hiç hiçbir asla hayır olmadan
    all every some most few only always sometimes rarely seldom hardly must should shall may might
    can if until less least whether barely scarcely almost nearly allegedly supposedly reportedly
    former formerly false
    alle allen aller alles jeder jede jedes einige wenige nur immer manchmal selten kaum muss müssen
    soll sollen sollte darf dürfen kann können falls wenn ob beinahe angeblich
    tout tous toute toutes chaque certains certaines quelques seulement toujours parfois rarement
    guère presque doit doivent peut peuvent si
    todo todos toda todas cada algunos algunas solo sólo siempre debe deben puede pueden
    casi apenas quasi quase
    elke sommige enkele alleen altijd soms zelden moet moeten mag mogen kan kunnen bijna nauwelijks
    tutti tutte ogni alcuni alcune sempre deve devono può possono alguns só devem pode podem
    все всегда только если можно нужно должен едва почти
"""
_MARK_WORDS = """
    january february april june july august september october november december
    januar februar märz mai juni juli oktober dezember jänner
    janvier février avril juin juillet août septembre octobre novembre décembre
    enero febrero abril mayo junio julio agosto septiembre octubre noviembre diciembre
    januari februari maart mei augustus gennaio febbraio aprile maggio giugno luglio settembre
    ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday
    montag dienstag mittwoch donnerstag freitag samstag sonntag heute gestern
    lundi mardi mercredi jeudi vendredi samedi dimanche hier demain
    lunes martes miércoles jueves viernes sábado domingo hoy ayer
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag vandaag gisteren morgen
    two three four five six seven eight nine ten eleven twelve twenty hundred thousand million
    billion half twice zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend
    deux trois quatre cinq sept huit neuf dix onze douze cent mille
    dos tres cuatro cinco seis siete ocho nueve diez cien mil
    twee drie vijf zes zeven negen tien honderd duizend due tre quattro cinque sei sette otto nove
    dieci cento dois duas três quatro sete oito dez
"""
_LONE_UNIT_WORDS = "mg mcg kg ml km cm mm kb mb gb tb khz mhz ghz kw mw kwh celsius fahrenheit"
_BESIDE_NUMBER = """
    march mars jan feb febr mar mär mrt apr abr avr jun jul aug ago sep sept oct okt out ott
    nov dec dez dic déc set gen ene mag giu lug fev fév janv juil
"""
_BEFORE_NUMBER = """
    under below over above about around approximately roughly to than before after by within beyond
    unter über bis etwa vor nach moins plus environ menos más circa meno più onder boven tot
"""
_BOUND_WORDS = frozenset(word.casefold() for word in _BEFORE_NUMBER.split())
_MONTHS_BESIDE_NUMBER = frozenset(word.casefold() for word in _BESIDE_NUMBER.split())
_POLARITY_WORDS = frozenset(word.casefold() for word in _TURNING_WORDS.split()) | {"t"}
_NAMED_VALUES = frozenset(word.casefold() for word in _MARK_WORDS.split()) | _MONTHS_BESIDE_NUMBER
_MARKS = (
    frozenset(word.casefold() for word in _MARK_WORDS.split()) - _MONTHS_BESIDE_NUMBER
    | _POLARITY_WORDS
)
_ANY_CASE = frozenset(word.casefold() for word in _UNIT_WORDS.split())
_MAY_AS_MONTH = re.compile(
    r"\d(?:th|st|nd|rd|\.)? +may\b|\bmay +\d"
)  # the month; else it is a verb
_LONE_UNITS = frozenset(_LONE_UNIT_WORDS.split())
_WATCHED_WORDS = _MARKS | _MONTHS_BESIDE_NUMBER | _LONE_UNITS | _BOUND_WORDS
_CANONICAL_MARKS = {"t": "not", "cannot": "not", "n": "ne"}
_CODE = re.compile(r"!=|!(?=[A-Za-z_(])|(?<=[\w)\]] )[-*/](?= [\w(])")
_SIGNS = frozenset(("!=", "!", "-", "*", "/"))
_MAY_BE_CODE = ("!", " - ", " * ", " / ")
_KOREAN_TURNING = ("않", "없", "못", "아니")
"""How negated forms begin; of the short 안 alone, for 안전 is safety."""
_HANGUL_FIRST = "\uac00"
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7a3]")  # also in parts; words put them together
_QUESTION_MARKS = "?？؟"
_QUESTION_MARK = re.compile(rf"(?<![{_QUESTION_MARKS}])[{_QUESTION_MARKS}]++(?!\w)")
_QUESTION_CONTEXT = 64  # characters in which the word before a question mark is looked for
_HAN_TURNING = "不没沒非无無未勿别別莫否禁都只仅僅每必须須应應可能若"
_HAN = re.compile(
    f"[{_HAN_TURNING}两兩二三四五六七八九十百千万萬亿億半]|ない|なく|ません|今天|明天|昨天"
)


def extract_facts(text: str, spelled: Sequence[str] | None = None) -> tuple[str, ...]:
    """The text's numbers, then its marks; `spelled` is `split_words(text)` where the caller has it.

    >>> extract_facts("Do not take 5 mg before 12 May 2024.")
    ('5mg', '12', '2024', 'not', 'before', 'may')
    """
    spelled = split_words(text) if spelled is None else spelled
    marks = tuple(_extract_marks(spelled)) if not _WATCHED_WORDS.isdisjoint(spelled) else ()
    rest = "" if text.isascii() else beyond_ascii(text)
    han = tuple(_HAN.findall(text)) if _HAN.search(rest) else ()
    if _HANGUL.search(rest):
        han = (*han, *filter(_is_korean_negation, spelled))
    code = tuple(_CODE.findall(text)) if any(sign in text for sign in _MAY_BE_CODE) else ()
    asked = _question_words(text) if any(mark in text for mark in _QUESTION_MARKS) else ()
    return (*_extract_numbers(text), *marks, *han, *code, *asked)


def extract_values(text: str) -> frozenset[str]:
    """Numbers as they are spelled, with sign and unit; spelled numbers, months and days.

    >>> sorted(extract_values("Take 5 mg on Monday, not on 2 March, for three weeks."))
    ['2', '5mg', 'march', 'monday', 'three']
    """
    found = {
        *_extract_numbers(text),
        *_NAMED_VALUES.intersection(_extract_marks(split_words(text))),
    }
    if _MAY_AS_MONTH.search(text.casefold()):
        found.add("may")
    if not text.isascii():
        found.update(sign for sign in _HAN.findall(text) if not polarity_mark(sign[0]))
    return frozenset(found)


def polarity_mark(word: str) -> str:
    """The mark that the word is where it negates, counts, obliges or conditions; else empty.

    >>> polarity_mark("cannot"), polarity_mark("only"), polarity_mark("blue")
    ('not', 'only', '')
    """
    if word in _POLARITY_WORDS or word in _HAN_TURNING:
        return _CANONICAL_MARKS.get(word, word)
    return word if word >= _HANGUL_FIRST and _is_korean_negation(word) else ""


def code_signs(known: Sequence[str]) -> list[str]:
    """Those of the facts that are signs of code, in order.

    >>> code_signs(extract_facts("if (!ready) return a - 1"))
    ['!', '-']
    """
    return [fact for fact in known if fact in _SIGNS]


def question_facts(known: Sequence[str]) -> list[str]:
    """Those of the facts that are questions, without their marks, in order.

    >>> question_facts(extract_facts("The pump starts? It does. At 5?"))
    ['starts', '5']
    """
    return [fact[:-1] for fact in known if fact[-1] == "?"]


def has_in_order(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Whether all of `part` stands in `whole`, in this order, other facts between them or not.

    >>> has_in_order(("5mg", "10mg", "not"), ("5mg", "not")), has_in_order(("5mg",), ("10mg",))
    (True, False)
    """
    rest = iter(whole)
    return all(fact in rest for fact in part)


def _is_korean_negation(word: str) -> bool:
    return word == "안" or word.startswith(_KOREAN_TURNING)


def _question_words(text: str) -> Iterator[str]:
    for mark in _QUESTION_MARK.finditer(text):
        before = split_words(text[max(0, mark.start() - _QUESTION_CONTEXT) : mark.start()])
        if before:
            yield f"{before[-1]}?"


def _extract_numbers(text: str) -> Iterator[str]:
    end = 0
    for found in _NUMBER.finditer(text):
        start = _run_start(text, found.start(), end)
        before = text[max(end, start - 6) : start]
        end = found.end()
        unit = found[1] or ""
        if (
            unit[:1].isalpha()
            and unit[0] < "\u0400"
            and unit.partition("/")[0].casefold() not in _ANY_CASE
        ):
            unit = ""
        head = _HEAD.search(before) if before.rstrip(" ")[-1:] in _HEAD_SIGNS else None
        compare, sign, currency = head.groups(default="") if head else ("", "", "")
        number = f"{compare.rstrip()}{sign}{text[start:end]}{unit}{currency.rstrip()}"
        yield number if number.isascii() else number.translate(_ONE_SPELLING)


def _run_start(text: str, start: int, floor: int) -> int:
    """Where the run begins whose first digit is at `start`: the B of B12."""
    while start > floor and text[start - 1].isalpha() and text[start - 1] < "\u0500":
        start -= 1
    return start


def _extract_marks(spelled: Sequence[str]) -> Iterator[str]:
    """The watched words; `t` behind a negated verb, months beside and bounds before a number."""
    for i, word in enumerate(spelled):
        if word not in _WATCHED_WORDS:
            continue
        before = spelled[i - 1] if i else ""
        after = spelled[i + 1] if i + 1 < len(spelled) else ""
        if word == "t" and not before.endswith("n"):
            continue
        if word in _MONTHS_BESIDE_NUMBER and not (before[:1].isdigit() or after[:1].isdigit()):
            continue
        if word in _BOUND_WORDS and not after[:1].isdigit():
            continue
        if word in _ANY_CASE and before[-1:].isdigit():
            continue  # it already stands with its number
        yield _CANONICAL_MARKS.get(word, word)
