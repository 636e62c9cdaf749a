"""Which parts of a mail are its text: what a mail program shows, in its order."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import SENT
from foveate.core.errors import BadInput
from foveate.ingest.loaders.eml import load_eml
from foveate.ports import LoadedDocument

PAGE = (
    "<p>The gate code is <b>4471</b>.</p><table><tr><th>Day</th><th>Hours</th></tr>"
    "<tr><td>Mon</td><td>8-17</td></tr><tr><td>Tue</td><td>9-12</td></tr></table>"
)
SHOWN = "The gate code is 4471.\n\n| Day | Hours |\n| Mon | 8-17 |\n| Tue | 9-12 |"


def _part(text: str, kind: str = "text/plain", more: str = "") -> str:
    return f"Content-Type: {kind}; charset=utf-8\n{more}\n{text}\n"


def _several(kind: str, *parts: str, mark: str = "q") -> str:
    inner = "".join(f"--{mark}\n{each}" for each in parts)
    return f'Content-Type: multipart/{kind}; boundary="{mark}"\n\n{inner}--{mark}--\n'


def _mail(body: str) -> LoadedDocument:
    (mail,) = load_eml(f"{SENT}Subject: Gate\nMIME-Version: 1.0\n{body}".encode(), Path("a.eml"))
    assert isinstance(mail, LoadedDocument)
    return mail


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("", SHOWN),
        (" \u00a0", SHOWN),
        ("Please view this mail in HTML.", SHOWN),
        ("Your program shows no HTML. Open https://mail.example/v/81", SHOWN),
        ("The gate code is 4471.", SHOWN),
        ("The gate code is 4417. Day and hours: Mon 8-17, Tue 9-12.", SHOWN),
        (
            "The gate code is 4471. Mon 8-17, Tue 9-12.",
            "The gate code is 4471. Mon 8-17, Tue 9-12.",
        ),
    ],
)
def test_a_stub_does_not_hide_the_page(plain: str, shown: str) -> None:
    """V1: a plain part is the text only if it says what the page says, figures first of all."""
    assert _mail(_several("alternative", _part(plain), _part(PAGE, "text/html"))).text == shown


def test_a_page_with_pictures_is_one_alternative() -> None:
    """V1: pictures of the page are named as attached, whichever text is taken."""
    picture = _part("x", "image/png", "Content-Disposition: inline; filename=roof.png\n")
    for plain in ("", "The gate code is 4471. Mon 8-17, Tue 9-12."):
        rich = _several("related", _part(PAGE, "text/html"), picture, mark="r")
        mail = _mail(_several("alternative", _part(plain), rich))
        assert "4471" in mail.text
        assert mail.metadata["attachments"] == "roof.png"


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (["Dear Ben,", "PICTURE", "the deadline is 5 May."], "Dear Ben,\n\nthe deadline is 5 May."),
        (["See below.", "<p>first</p>", "<p>second</p>"], "See below.\n\nfirst\n\nsecond"),
        (["", "only this"], "only this"),
        (["<h1>One</h1><p>a</p>", "<h1>Two</h1><p>b</p>"], "# One\n\na\n\n# Two\n\nb"),
    ],
)
def test_texts_stand_in_their_order(parts: list[str], shown: str) -> None:
    """V1: behind a picture, or a second page; sections keep their places."""
    picture = _part("x", "image/png", "Content-Disposition: inline\n")
    bodies = [
        picture if text == "PICTURE" else _part(text, f"text/{'html' if '<' in text else 'plain'}")
        for text in parts
    ]
    mail = _mail(_several("mixed", *bodies))
    assert mail.text == shown
    for section in mail.sections:
        assert mail.text[section.start :].startswith(f"# {section.path}")


def test_files_are_attached_and_not_shown() -> None:
    """V1: a text with the name of a file is a file, and so is a mail in the mail."""
    named = _part("On foot.", more="Content-Disposition: inline; filename=way.txt\n")
    kept = _part("Not this.", more="Content-Disposition: attachment\n")
    inner = f"Content-Type: message/rfc822\n\n{SENT}Subject: Inner\n\nHidden.\n"
    mail = _mail(_several("mixed", _part("Shown."), named, kept, inner))
    assert mail.text == "Shown."
    assert mail.metadata["attachments"] == "way.txt, attachment 2, attachment 3"


def test_a_mail_of_one_part_of_another_kind() -> None:
    """V1: a text is shown; what is no text is attached."""
    assert _mail(_part("BEGIN:VCALENDAR", "text/calendar")).text == "BEGIN:VCALENDAR"
    mail = _mail(_part("x", "application/zip"))
    assert (mail.text, mail.metadata["attachments"]) == ("", "attachment 1")


def test_a_mail_of_very_many_parts() -> None:
    """V1: texts are read in time that grows with them; attachments are over the limit."""
    many = [_several("mixed", *(_part(f"line {n}") for n in range(size))) for size in (400, 1_600)]
    took = []
    for body in many:
        started = time.process_time()
        assert _mail(body).text.count("line") == body.count("line")
        took.append(time.process_time() - started)
    assert took[1] < 10 * took[0]
    with pytest.raises(BadInput, match="limit `attachments`"):
        _mail(_several("mixed", *(_part("x", "image/png") for n in range(1_000))))


@given(st.recursive(
    st.sampled_from([_part("one"), _part("<p>two", "text/html"), _part("", "text/html"),
                     _part("x", "image/png"), _part("BEGIN", "text/calendar")]),
    lambda inner: st.tuples(
        st.sampled_from(["mixed", "alternative", "related", "signed", "x-odd"]),
        st.lists(inner, max_size=3),
        st.uuids(),
    ).map(lambda made: _several(made[0], *made[1], mark=made[2].hex)),
    max_leaves=6,
))  # fmt: skip
def test_some_text_is_shown_if_there_is_any(body: str) -> None:
    """V1: however parts are put into one another, a mail with a text is not read as empty."""
    mail = _mail(body)
    assert bool(mail.text) == (
        "one" in body or "two" in body or body.startswith("Content-Type: text/calendar")
    )
