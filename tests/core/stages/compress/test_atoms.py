"""Atoms of prose: what is never cut inside."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.sentences import sentence_spans
from foveate.core.text.units import join_atoms, units_of

WHOLE = {
    "straight": 'She said: "Close it. Then go." We went.',
    "curved": "She said: “Close it. Then go.” We went.",
    "low": "Sie sagte: „Schließ ab. Geh dann.“ Wir gingen.",
    "angled": "Elle dit : «Ferme. Puis pars.» Voilà.",
    "turned": "Er rief: »Halt. Geh.« Wir gingen. Er rief: »Komm.«",
    "corners": "彼は「閉めろ。行け。」と言った。次。",
    "code": "It runs this.\n    call(one); done. Then = two\nThat is all.",
}
PARTS = {
    "straight": '"Close it. Then go."',
    "curved": "“Close it. Then go.”",
    "low": "„Schließ ab. Geh dann.“",
    "angled": "«Ferme. Puis pars.»",
    "turned": "»Halt. Geh.«",
    "corners": "「閉めろ。行け。」",
    "code": "    call(one); done. Then = two",
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_unit_ends_in_no_quotation_and_no_line_of_code(name: str) -> None:
    """J3: sentences inside of one are one unit."""
    text, part = WHOLE[name], PARTS[name].strip()
    units = [text[a:b] for a, b in units_of(text).spans]

    assert sum(part in unit for unit in units) == 1


@given(st.text(alphabet='ab.\n"“”„«» (=', max_size=120))
def test_units_stay_in_order_apart_and_complete(text: str) -> None:
    """J3 U4: joining moves no end, and every span that was there is inside of one."""
    spans = sentence_spans(text)
    found = join_atoms(text, spans)

    assert {a for a, _ in found} <= {a for a, _ in spans}
    assert {b for _, b in found} <= {b for _, b in spans}
    assert all(b <= c for (_, b), (c, _) in pairwise(found))
    assert all(any(a <= c and d <= b for a, b in found) for c, d in spans)


def test_marks_alone_join_to_the_words_beside_them() -> None:
    """J3: two quotation marks that are left of a text say nothing on their own."""
    text = 'The call returns text. "" Then it ends, and the loop goes on.'
    units = units_of(text)
    alone = [n for n, (a, b) in enumerate(units.spans) if text[a:b] == '""']

    assert all(units.leans[n] != n for n in alone)
