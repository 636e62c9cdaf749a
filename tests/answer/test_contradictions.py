"""Claims near their source that say something else: found, and right ones left alone."""

from __future__ import annotations

import pytest

from foveate import assemble
from foveate.answer.check import check_answer
from foveate.answer.contradictions import contradictions

SOURCES = {
    "pump": (
        "The pump starts at one bar and stops at three bar. "
        "Clean its filter every spring. "
        "The valve must not be opened under pressure."
    ),
    "dose": "Adults take 5 mg a day, children take 2 mg a day. Never exceed 10 mg within 24 hours.",
    "museum": (
        "The museum opens at 9:30 and closes at 17:00. "
        "Tickets cost 12 euros for adults and 6 euros for children. "
        "It is closed on Mondays."
    ),
    "nl": "De raadpleging duurt gemiddeld 30 minuten. U hoeft niet nuchter te zijn.",
    "de": "Der Kessel fasst 40 Liter. Das Ventil darf nicht geöffnet werden.",
    "tariff": (
        "Parking costs 2 euros an hour. A stay costs at most 12 euros. A bicycle costs 1 euro."
    ),
    "hours": (
        "Descale the boiler after 300 Betriebsstunden. A check of it comes every 40 minutes. "
        "The inspection takes about 25 minutes."
    ),
    "ranges": (
        "Keep the pressure between one and two bar. The repair takes 2 to 3 days. "
        "It rises from four to five bar. The museum is open from 10 to 17 hours. "
        "The home side won by 3-2 goals."
    ),
    "fr": "La consultation dure 25 minutes. Il ne faut pas ouvrir la vanne.",
}
WRONG = [
    ("pump", "The pump does not start at one bar."),
    ("pump", "The valve must be opened under pressure."),
    ("pump", "The pump stops at one bar and starts at three bar."),
    ("pump", "The pump starts at one psi."),
    ("dose", "Adults take 5 g a day."),
    ("dose", "Children take 5 mg a day, adults take 2 mg a day."),
    ("dose", "Adults take 2 mg a day and children take 5 mg a day."),
    ("museum", "The museum is not closed on Mondays."),
    ("museum", "Tickets cost 6 euros for adults and 12 euros for children."),
    ("museum", "Tickets cost 12 dollars for adults."),
    ("nl", "De raadpleging duurt 30 uur."),
    ("nl", "U moet nuchter te zijn."),
    ("nl", "U hoeft nuchter te zijn."),
    ("de", "Das Ventil darf geöffnet werden."),
    ("de", "Der Kessel fasst 40 Milliliter."),
    ("fr", "Il faut ouvrir la vanne."),
    ("fr", "La consultation dure 25 heures."),
    ("tariff", "Parking costs 2 euros a day."),
    ("tariff", "A stay costs at least 12 euros."),
    ("tariff", "A bicycle pays 2 euros."),
    ("hours", "The boiler is descaled after 300 days."),
    ("hours", "The inspection takes about 40 minutes."),
    ("ranges", "It is two bar."),
    ("ranges", "Keep the pressure at one bar."),
    ("ranges", "The repair takes 3 days."),
    ("ranges", "In the past case, keep the boiler side at two bar."),
]
RIGHT = [
    ("hours", "Descale the boiler after 300 hours."),
    ("hours", "An inspection takes nearly half an hour, or 25 minutes."),
    ("museum", "From 9:30 on it is open."),
    ("pump", "The pump starts at one bar."),
    ("pump", "It starts at 1 bar and stops at 3 bar."),
    ("pump", "Do not open the valve while it is under pressure."),
    ("pump", "The filter is to be cleaned each spring."),
    ("pump", "The valve may not be opened under pressure."),
    ("dose", "An adult takes 5 milligrams daily."),
    ("dose", "Children take 2 mg a day, adults 5 mg."),
    ("dose", "No more than 10 mg may be taken within 24 hours."),
    ("dose", "Do not exceed 10 mg in 24 hours."),
    ("museum", "On Mondays the museum is closed."),
    ("museum", "Adults pay 12 € and children 6 €."),
    ("museum", "It opens at 9:30, but not on Mondays."),
    ("museum", "The museum is not open on Mondays."),
    ("museum", "Tickets for adults cost 12 euros, those for children 6."),
    ("nl", "Een raadpleging duurt ongeveer dertig minuten."),
    ("nl", "Nuchter zijn is niet nodig."),
    ("de", "Der Kessel fasst vierzig Liter."),
    ("de", "Man darf das Ventil nicht öffnen."),
    ("fr", "Une consultation dure environ vingt-cinq minutes."),
    ("fr", "N'ouvrez pas la vanne."),
    ("tariff", "A stay never costs more than 12 euros."),
    ("tariff", "A stay costs no more than 12 euros."),
    ("tariff", "Two euros are due each hour for parking."),
    ("tariff", "Bicycles pay 1 euro."),
    ("ranges", "It is one to two bar."),
    ("ranges", "Keep the pressure at up to two bar."),
    ("ranges", "Two bar is the highest pressure, one bar the lowest."),
    ("ranges", "The pressure may be two bar."),
    ("ranges", "The repair takes at least 2 days."),
    ("ranges", "It is then five bar."),
    ("ranges", "The museum closes at 17 hours."),
    ("ranges", "The repair takes 3 days at the longest."),
    ("ranges", "The repair is done within 3 days."),
    ("ranges", "The home side scored 3 goals."),
]


def test_most_wrong_answers_near_their_source_are_found():
    """C3: a negation, another unit, figures that changed places."""
    missed = [claim for source, claim in WRONG if not contradictions(claim, SOURCES[source])]

    assert len(missed) <= 1, missed


@pytest.mark.parametrize(("source", "claim"), RIGHT)
def test_right_answers_are_not_accused(source, claim):
    """C3: other words, spelled numbers, another order, a negation said otherwise."""
    assert contradictions(claim, SOURCES[source]) == ()


def test_a_claim_says_what_its_source_contradicts():
    """C3: as a fault of a cited claim, whose words the source has."""
    context = assemble(
        "When does the pump start?", [{"text": SOURCES["pump"], "source": "pump.md"}], budget=200
    )
    wrong = check_answer("The pump does not start at one bar [1].", context)
    right = check_answer("The pump starts at one bar [1].", context)

    assert wrong.claims[0].contradictions == ("negated",)
    assert (wrong.claims[0].faults, wrong.no_fault_found) == (("negated",), False)
    assert (right.claims[0].faults, right.no_fault_found) == ((), True)
