"""Quantities of a claim beside those of its sources."""

from __future__ import annotations

import pytest

from foveate import assemble, check_answer
from foveate.answer.quantities import contradicted, stated


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("At least 5 tickets.", "5 at most tickets"),
        ("Take at least 5 mg a day.", "Take at most 5 mg a day."),
        ("It runs for more than 12 hours.", "It runs for no more than 12 hours."),
        ("Sie nimmt mehr als 3 Liter.", "Sie nimmt höchstens 3 Liter."),
        ("It stops at 5 °C.", "It stops at -5 °C. Take 5 mg."),
        ("40 euros or less", "40 euros or more"),
        ("It takes 30 s.", "takes 30 ms"),
        ("30 milliseconds", "30 s"),
        ("needs 5 MW", "needs 5 mW"),
        ("20 m³", "20 m²"),
        ("It shows 5 degrees.", "It shows -5 degrees."),
        ("ratio > 3", "ratio < 3"),
        ("Hepatitis A needs two.", "Against hepatitis B give two."),
        ("höchstens 8 bar", "mindestens 8 bar"),
        ("au plus 90", "au moins 90 litres"),
        ("como mínimo 15 kg", "como máximo 15 kg"),
        ("It costs $40.", "It costs €40."),
        ("не более 6 бар", "не менее 6 бар"),
        ("至多5人", "至少5人"),
        ("The job must take at most 5 days.", "The job must take at least 5 days."),
        ("Die Anlage läuft mit mehr als 5 bar.", "Die Anlage läuft mit höchstens 5 bar."),
    ],
)
def test_the_same_number_that_means_something_else_is_found(claim, source):
    """V3: bounds before and behind, signs, currencies, units in their case, names of one letter."""
    assert contradicted(claim, [stated(source)]) != ()
    assert contradicted(claim, map(stated, (source, claim))) == ()


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It opens at 9.", "It does not open before 9."),
        ("24 Euro", "24 €"),
        ("Elle prend au plus 5 litres.", "Elle ne prend pas plus de 5 litres."),
        ("It takes up to 12 hours.", "It takes no more than 12 hours."),
        ("Es sind höchstens 5 Liter.", "Es sind nicht mehr als 5 Liter."),
        ("up to 5 people", "at most 5 people"),
        ("no more than 5", "5 at most"),
        ("5 seconds", "5 s"),
        ("It is 5 degrees below zero.", "-5 degrees"),
        ("until 3 May", "not valid after 3 May"),
        ("at least 40 dollars", "$40 or more"),
        ("less than 5 bar", "unter 5 bar"),
        ("Type A is used.", "Use type A and type B."),
        ("5 km", "5 km long"),
        ("minus 5 Grad", "-5 Grad"),
        ("The limit is 5.", "at most 5"),
        ("In 2024 it cost 5 €.", "5 euros in 2024"),
        ("It should not take more than 5 days.", "It takes at most 5 days."),
        ("Revenue fell by 5%.", "revenue: -5%"),
        ("Der Umsatz ist um 5% gesunken.", "Umsatz: -5%"),
        ("It is -5 °C.", "It is –5 °C."),
        ("Add 5 mL.", "Add 5 ml."),
        ("It has 20 m².", "It has 20m2."),
    ],
)
def test_the_same_quantity_in_other_words_is_no_fault(claim, source):
    """V3: what is not said to be otherwise is not accused."""
    assert contradicted(claim, [stated(source)]) == ()


def test_an_answer_is_checked_by_them():
    """V3: the fault is that of figures which no source has."""
    context = assemble("How long?", [{"text": "The valve opens after 30 ms."}], budget=99)
    wrong = check_answer("The valve opens after 30 s [1].", context)
    right = check_answer("The valve opens after 30 ms [1].", context)

    assert wrong.claims[0].figures == ("30 s",)
    assert wrong.claims[0].faults == ("unsupported_figures",)
    assert right.claims[0].faults == ()
