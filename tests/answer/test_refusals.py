"""What an answer says it was not told, in the prompts' languages; and what claims all the same."""

from __future__ import annotations

import pytest

from foveate import assemble
from foveate.answer.check import check_answer
from foveate.answer.refusals import find_assertion_start

FOUND = [{"text": "The museum opens at nine. Adults pay 1,200 yen.", "source": "museum.md"}]
CONTEXT = assemble("When does the museum open?", FOUND, budget=300, recipe="citations")


@pytest.mark.parametrize(
    "said",
    """
The context does not say when the museum was built.
The sources don't mention a lift.
There is no information in the context about a lift.
The documents contain no information about the lift.
The context gives no year of construction.
It is not stated in the context when the museum was built.
I cannot find the year of construction in the documents.
I am unable to find the year in the provided sources.
The year of construction cannot be determined from the context.
The year of construction is not mentioned in the documents.
Based on the context, there is no information about a lift.
No source says when the museum was built.
The provided context doesn't mention the year, so I cannot answer.
De bronnen vermelden niet wanneer het museum gebouwd is.
De context zegt niet wanneer het museum gebouwd is.
De documenten bevatten geen informatie over een lift.
In de context staat niet wanneer het museum gebouwd is.
Uit de bronnen blijkt niet wanneer het museum gebouwd is.
Er staat in de documenten niets over een lift.
Die Quellen sagen nicht, wann das Museum gebaut wurde.
Der Kontext enthält keine Angaben zum Baujahr des Museums.
In den Unterlagen steht nicht, wann das Museum gebaut wurde.
Aus dem Kontext geht nicht hervor, wann das Museum gebaut wurde.
Der Kontext nennt kein Baujahr des Museums.
Im Kontext wird das Baujahr des Museums nicht genannt.
Le contexte ne précise pas la date de construction du musée.
Les documents n'indiquent pas la date de construction du musée.
Les sources ne mentionnent pas d'ascenseur au musée.
Aucun document ne mentionne la date de construction du musée.
La date de construction n'est pas indiquée dans les documents.
I don't have enough information in the provided context to answer this question.
I do not have sufficient information about the lift to answer.
There is not enough information to say when it was built.
I'm unable to answer that question from what I was given.
This question cannot be answered.
Ik heb niet genoeg informatie om deze vraag te beantwoorden.
Ik kan deze vraag met deze teksten niet beantwoorden.
Ich habe nicht genügend Informationen, um die Frage zu beantworten.
Ich kann diese Frage leider nicht beantworten.
Je n'ai pas assez d'informations pour répondre à cette question.
Je ne peux pas répondre à cette question.
I don't know.
I don't know when the museum was built.
No information is available on this.
That isn't covered by the sources.
It is unclear from the documents when the museum was built.
Dat staat niet in de documenten.
Hierover is geen informatie beschikbaar.
Helaas kan ik dat niet beantwoorden.
Ik kan dit niet terugvinden in de documenten.
Dazu steht nichts in den Dokumenten.
Darüber liegen keine Informationen vor.
Leider kann ich das nicht beantworten.
Das wird in den Quellen nicht erwähnt.
Ich konnte dazu nichts finden.
Les documents ne le disent pas.
Cette information ne figure pas dans les sources.
Je n'ai pas trouvé cette information dans les documents.
Aucune information n'est disponible à ce sujet.
Je ne dispose pas de cette information.
""".strip().splitlines(),
)
def test_what_was_not_told_needs_no_source(said):
    """C3, R5: the prompts ask for it, in so many ways."""
    checked = check_answer(said, CONTEXT)
    assert (checked.claims, checked.no_fault_found) == ((), True)


@pytest.mark.parametrize(
    "said",
    """
According to the documents, the boiler contains no gasket.
No data leaves the device according to the documents.
You cannot find taxis near the museum according to the sources.
Visitors cannot see the lower rooms, the sources say.
The museum's documents do not leave the building on weekdays.
The documents say that tickets are not sold on Mondays.
The museum holds no text of the treaty.
There is no evidence of damage to the lower rooms.
The museum does not have enough information desks for its visitors.
Laut Unterlagen enthält der Boiler keine Dichtung.
Volgens de documenten bevat de ketel geen pakking.
La source n'est pas profonde.
No data is available on this device.
De winterprijs staat niet in de folder.
Daar is op zondag geen informatiebalie open.
Dazu liegen keine Schienen bereit.
Das wird in den Ferien nicht angeboten.
Le prix ne figure pas sur le billet.
I don't know the dose by heart, the label says it is high.
I don't know a safer drug than aspirin.
Hier is geen informatie nodig, de dosis is erg hoog.
Je ne dispose pas d'informations récentes, la dose est forte.
""".strip().splitlines(),
)
def test_what_denies_something_is_a_claim(said):
    """C3: about documents, or by them."""
    assert [claim.faults[0] for claim in check_answer(said, CONTEXT).claims] == ["uncited"]


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("The context does not say who built it, but it was built in 1881.", "it was built"),
        ("The context does not say; it was built in 1881.", "it was built"),
        ("Although the context does not say when, it was built in 1881.", "it was built"),
        ("De context zegt niet wanneer, maar het is in 1881 gebouwd.", "het is in 1881"),
        ("Die Quellen sagen nicht, wann, aber es wurde 1881 gebaut.", "es wurde 1881"),
        ("Le contexte ne dit pas quand, mais il date de 1881.", "il date"),
    ],
)
def test_one_that_goes_on_claims_something(said, claimed):
    """C3: what is made up behind an excuse is held like anything else."""
    (claim,) = check_answer(said, CONTEXT).claims
    assert claim.faults == ("uncited", "unsupported_figures")
    assert claim.text.startswith(claimed)
    assert said[slice(*claim.span)] == claim.text


def test_one_that_goes_on_with_a_source_is_held_to_it():
    """C3: the words of the excuse are not asked of the source."""
    said = "The documents do not mention a lift, but the museum opens at nine [1]."
    checked = check_answer(said, CONTEXT)
    assert checked.no_fault_found
    assert checked.cited == (1,)
    assert find_assertion_start("The context does not mention a lift however.") is None


@pytest.mark.parametrize(
    "said",
    """
I don't know the dose, 40 mg by the label.
It is unclear from the document, the dose is 40 mg.
The context does not say what the 40 mg are for.
Ik kan niet anders dan antwoord geven: de dosis is 40 mg.
I don't know the safer dose [1].
Hier is geen informatie nodig [1].
""".strip().splitlines(),
)
def test_what_has_a_figure_or_a_marker_is_a_claim(said):
    """C3: no excuse has a figure that was not asked about; one that names no source cites none."""
    (claim,) = check_answer(said, CONTEXT).claims
    assert claim.faults
    assert said.startswith(claim.text[:-1])


@pytest.mark.parametrize(
    "said",
    [
        "The context does not say who built it in 1881.",
        "I don't know who built it in 1881.",
        "I can't answer that, I'm afraid.",
        "The document [1] does not mention the builder.",
    ],
)
def test_an_excuse_may_repeat_the_question_and_name_its_source(said):
    """C3: a figure of the question claims nothing, nor does the marker of a source without it."""
    context = assemble("Who built it in 1881?", FOUND, budget=300, recipe="citations")
    assert check_answer(said, context).claims == ()


def test_what_a_sentence_of_a_megabyte_says_at_its_end_is_no_refusal():
    """A14, C3: its beginning is read, and not each word of it beside all others."""
    assert find_assertion_start("not " * 250_000 + "in the context.") == 0
    assert find_assertion_start("The context does not say when." + " " * 1_000_000) is None
