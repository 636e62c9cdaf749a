"""The one rule of sameness, on pairs in eight languages: alone and inside paragraphs."""

from __future__ import annotations

import re

import pytest

from foveate import assemble
from foveate.core.formats.minimal import Minimal
from foveate.core.request import Recipe
from foveate.core.stages.dedup.exact import DedupExact
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.pack import Pack

AROUND = {
    "en": (
        "Before work begins, the operator signs the log in the control room and informs the "
        "shift lead by phone. {} After the test the operator closes the cabinet, writes the "
        "readings into the log and returns the key to the board next to the door. The lamp "
        "above the entrance shows whether somebody is still inside the hall."
    ),
    "de": (
        "Vor Beginn der Arbeit unterschreibt der Bediener das Buch in der Warte und meldet sich"
        " beim Schichtleiter per Telefon. {} Nach der Prüfung schließt der Bediener den "
        "Schrank, trägt die Werte in das Buch ein und hängt den Schlüssel wieder an das Brett "
        "neben der Tür. Die Lampe über dem Eingang zeigt, ob jemand in der Halle ist."
    ),
    "fr": (
        "Avant de commencer, l'opérateur signe le registre dans la salle de commande et "
        "prévient le chef d'équipe par téléphone. {} Après l'essai, l'opérateur ferme "
        "l'armoire, note les valeurs dans le registre et remet la clé au tableau près de la "
        "porte. La lampe au-dessus de l'entrée indique la présence d'une personne dans le hall."
    ),
    "es": (
        "Antes de empezar, el operador firma el libro en la sala de control y avisa al jefe de "
        "turno por teléfono. {} Después de la prueba, el operador cierra el armario, anota los "
        "valores en el libro y devuelve la llave al tablero junto a la puerta. La lámpara sobre"
        " la entrada indica la presencia de personas en la nave."
    ),
    "it": (
        "Prima di iniziare, l'operatore firma il registro nella sala di controllo e avvisa il "
        "capoturno per telefono. {} Dopo la prova l'operatore chiude l'armadio, annota i valori"
        " nel registro e rimette la chiave al quadro accanto alla porta. La lampada sopra "
        "l'ingresso indica la presenza di persone nel capannone."
    ),
    "nl": (
        "Voor het werk begint tekent de bediener het logboek in de regelkamer en belt hij de "
        "ploegleider. {} Na de proef sluit de bediener de kast, schrijft hij de waarden in het "
        "logboek en hangt hij de sleutel terug op het bord naast de deur. De lamp boven de "
        "ingang toont de aanwezigheid van mensen in de hal."
    ),
    "ru": (
        "Перед началом работы оператор расписывается в журнале на пульте и звонит начальнику "
        "смены. {} После испытания оператор закрывает шкаф, записывает показания в журнал и "
        "возвращает ключ на доску у двери. Лампа над входом показывает присутствие людей в "
        "цехе."
    ),
    "zh": (
        "开始工作之前，操作员在控制室的记录本上签名，并打电话通知值班长。{}试验之后，操"
        "作员关上柜子，把读数写进记录本，并把钥匙挂回门边的板上。入口上方的灯显示厂房里是"
        "否有人。"
    ),
}
"""Some 65 words; the sentence that differs is one eighth of them."""
TWO_TEXTS = (
    (
        "en",
        "The sensor in cell 4 shows -5 degrees at noon.",
        "The sensor in cell 4 shows 5 degrees at noon.",
    ),
    (
        "en",
        "Give the drug when the ratio is < 3 and wait.",
        "Give the drug when the ratio is > 3 and wait.",
    ),
    ("en", "The pump seal costs 40 € without tax.", "The pump seal costs 40 $ without tax."),
    ("en", "The line carries 20 Mb each second.", "The line carries 20 MB each second."),
    ("en", "The ward orders 50 mg of it daily.", "The ward orders 50 µg of it daily."),
    ("en", "The tank holds at most 40 litres.", "The tank holds at least 40 litres."),
    (
        "en",
        "The vaccine against hepatitis A needs two doses.",
        "The vaccine against hepatitis B needs two doses.",
    ),
    ("en", "- [ ] The valve is closed.", "- [x] The valve is closed."),
    ("en", "Backup of the store: ✅ done", "Backup of the store: ❌ done"),
    ("en", "The loop ends when a == b holds.", "The loop ends when a != b holds."),
    ("en", "Fetch the log by curl -o log.", "Fetch the log by curl -O log."),
    ("en", "The drug is safe in winter.", "It is a myth that the drug is safe in winter."),
    ("en", "Open the valve by hand.", "Avoid: open the valve by hand."),
    ("en", "The president is Ann Lee.", "The acting president is Ann Lee."),
    ("en", "Acme sold Globex to Initech.", "Initech sold Globex to Acme."),
    ("en", "The shaft is 6' long.", 'The shaft is 6" long.'),
    ("en", "Result of the swab: - found", "Result of the swab: + found"),
    ("de", "Der Fühler zeigt ±2 Grad am Abend.", "Der Fühler zeigt -2 Grad am Abend."),
    ("de", "Der Kessel hält höchstens 8 bar aus.", "Der Kessel hält mindestens 8 bar aus."),
    ("de", "Die Anlage leistet 30 mW im Betrieb.", "Die Anlage leistet 30 MW im Betrieb."),
    ("de", "Der Fehler tritt bei Modell A auf.", "Der Fehler tritt bei Modell B auf."),
    ("de", "Das Mittel wirkt sicher.", "Es ist ein Irrtum, dass das Mittel sicher wirkt."),
    ("de", "Die Firma Acker verklagt die Firma Berg.", "Die Firma Berg verklagt die Firma Acker."),
    ("fr", "Le seuil est de ≤ 12 points ici.", "Le seuil est de ≥ 12 points ici."),
    ("fr", "La cuve contient au plus 90 litres.", "La cuve contient au moins 90 litres."),
    ("fr", "Le remède guérit la toux.", "Il est faux que le remède guérit la toux."),
    ("fr", "Le vol part de Paris pour Londres.", "Le vol part de Londres pour Paris."),
    ("fr", "Le site est ouvert au public.", "Le site n'est pas ouvert au public."),
    ("es", "La multa es de 70 € al mes.", "La multa es de 70 £ al mes."),
    ("es", "El tanque pesa como máximo 15 kg.", "El tanque pesa como mínimo 15 kg."),
    ("es", "El túnel es seguro.", "Es un mito que el túnel es seguro."),
    ("es", "La vitamina A falta en el suero.", "La vitamina D falta en el suero."),
    ("it", "La pompa funziona di notte.", "La pompa non funziona di notte."),
    ("it", "Si dice +3 gradi nella cella.", "Si dice -3 gradi nella cella."),
    ("it", "È vero che il ponte regge.", "È falso che il ponte regge."),
    ("nl", "De klep mag open blijven.", "De klep mag niet open blijven."),
    ("nl", "De slang is 4 mm dik.", "De slang is 4 cm dik."),
    ("ru", "Насос работает ночью.", "Насос не работает ночью."),
    ("ru", "Допускается не более 6 бар.", "Допускается не менее 6 бар."),
    ("zh", "压力上限是＜5巴。", "压力上限是＞5巴。"),
    ("zh", "这种药是安全的。", "这种药是安全的，这是谣言。"),
)
LIGHT = {
    "en": "also ",
    "de": "auch ",
    "fr": "aussi ",
    "es": "también ",
    "it": "anche ",
    "nl": "ook ",
}
PLAIN = {"en": "It opens.", "de": "Es geht auf.", "fr": "La porte est ouverte.", "es": "Se abre."}
PLAIN |= {
    "it": "La porta è aperta.",
    "nl": "Het gaat open.",
    "ru": "Дверь открыта.",
    "zh": "门开着。",
}


def recipe_of(*stages):
    """A recipe of these stages that shows whatever is left of the candidates."""
    return Recipe(name="stages", stages=(*stages, Pack(policy="greedy")), format=Minimal())


METHODS = {
    "exact": recipe_of(DedupExact()),
    "jaccard": recipe_of(DedupNear(threshold=0.5)),
    "containment": recipe_of(DedupNear(method="containment", threshold=0.5)),
    "semantic": recipe_of(DedupNear(method="semantic", threshold=0.5)),
    "default": "default",
    "tight": "tight",
    "citations": "citations",
}


def context_of(recipe, language, *texts):
    """The context of texts with the same vector, with room for all of them."""
    found = [
        {"text": text, "source": f"{n}.md", "score": 1 - n / 9, "embedding": [0.6, 0.8]}
        for n, text in enumerate(texts)
    ]
    return assemble(" ".join(texts), found, recipe=recipe, budget=3000, language=language)


@pytest.mark.parametrize("recipe", METHODS)
@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a paragraph"])
@pytest.mark.parametrize(("language", "one", "other"), TWO_TEXTS)
def test_texts_that_differ_in_what_counts_are_two(recipe, around, language, one, other):
    """V3: neither leaves for the other, is said already, or is named as saying the other."""
    frame = AROUND[language] if around else "{}"
    for pair in ((one, other), (other, one)):
        context = context_of(METHODS[recipe], language, *map(frame.format, pair))
        shown = re.sub(r"\\(?=\W)", "", context.text)

        assert all(
            shown.count(text) >= 1 + (text in max(pair, key=len)) - (text == max(pair, key=len))
            for text in pair
        )
        assert not any(block.corroborating for block in context.blocks)


def copies(language):
    """Texts that say the same as a paragraph, each with the methods that promise to find it."""
    text = AROUND[language].format(PLAIN[language])
    first, *rest = re.split(r"(?<=\.) |(?<=。)", text)
    light = LIGHT.get(language, "")
    yield (
        text,
        text.replace(" ", "\u00a0 \n") + " \n",
        ("exact", "jaccard", "containment", "semantic"),
    )
    yield text, text.upper() if language != "de" else text.lower(), ("jaccard", "containment")
    yield text, f"{text} {PLAIN[language]}", ("jaccard", "containment", "semantic")
    yield text, " ".join([*rest, first]), ("semantic", "jaccard")
    yield text, text.replace(" ", f" {light}", 3).replace("，", "； "), ("jaccard", "containment")


@pytest.mark.parametrize(
    ("language", "text", "copy", "methods"),
    [(language, *one) for language in AROUND for one in copies(language)],
)
def test_copies_in_other_white_space_or_words_are_one(language, text, copy, methods):
    """S4: by each method that promises it, whichever of the two is scored better."""
    for method in methods:
        for pair in ((text, copy), (copy, text)):
            assert len(context_of(METHODS[method], language, *pair).blocks) == 1, method
