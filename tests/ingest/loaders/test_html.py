"""HTML: what a reader reads, as blocks; hostile pages cost linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import read
from foveate.ingest.loaders.tags import parse_attributes, parse_tags

PIECES = st.sampled_from(
    [
        *("<p>", "</p>", "<div>", "</div>", "<h1>", "</h1>", "<ul>", "<li>", "</ul>"),
        *("<pre>", "</pre>", "<table>", "<tr>", "<td>", "</table>", "<b>", "</b>", "<br>", " "),
        *("word", "&amp;", "<", "<!--", "-->", "<script>", "</script>", "<a href='x", "\n"),
        *("<h2>Sub</h2>", "<span hidden>", "</span>", "&#xd800;"),
    ]
)


@given(html=st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60)))
def test_any_input_gives_a_text_with_its_headings(html: str) -> None:
    """X2: no page is refused; sections are in order and begin at their headings."""
    loaded = read("page.html", html.encode("utf-8", "replace").replace(b"\0", b""))
    last = 0
    for section in loaded.sections:
        assert section.start >= last
        assert loaded.text[section.start] == "#"
        last = section.start


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One  two\nthree<p>four", "One two three\n\nfour"),
        ("a<b>b</b> <i> c </i>d", "ab c d"),
        ("one<br>two", "one\ntwo"),
        ("<ul><li>a<li>b<ol><li>c<li>d</ol></ul>e", "- a\n- b\n  1. c\n  2. d\n\ne"),
        ("<table><tr><th>A<th>B<tr><td>1<td><p>2</p></table>x", "| A | B |\n| 1 | 2 |\n\nx"),
        ("<pre>\nif x:\n    y</pre>z", "```\nif x:\n    y\n```\n\nz"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        ("<h2>A <i>b</i></h2>text", "## A b\n\ntext"),
        ("<h2>open<p>text", "## open\n\ntext"),
        ("<h1></h1>x", "x"),
        ("1 < 2 &amp;&lt;p&gt; &#65;", "1 < 2 &<p> A"),
        ("&#" + "9" * 9000 + ";x", "\ufffdx"),
        (
            "<script>no</script><style>no</style><nav>no</nav><!-- no --><noscript>no</noscript>x",
            "x",
        ),
        ("<p hidden>no</p><p style='display : none'>no</p><p>yes", "yes"),
        ("<p hidden>no<div>yes", "yes"),
        ("<div hidden><p>no<div>no</div></p>no</div>yes", "yes"),
        ("<dl><dt>a<dd>b</dl>", "a\nb"),
        ("<title>t</title><p>x", "x"),
        ("<a href='>'>x</a>", "x"),
        ("<svg/>x", "x"),
        ("</p></b>x", "x"),
        ("Fee <del>500</del> 450 <s>pounds</s><ins>euros</ins><strike>!</strike>", "Fee 450 euros"),
        ("10<sup>3</sup>m<sup>-<i>2</i></sup> 2<sup>2k</sup> 1<sup>st</sup>", "10³m⁻² 2^(2k) 1st"),
        ("H<sub>2</sub>O 101<sub>2</sub> note<sup><a>[1]</a></sup>", "H2O 101_2 note[1]"),
        ("<pre>2<sup>8</sup>-1</pre>", "```\n2⁸-1\n```"),
        ("log<sup>in</sup> M<sup>r</sup> 1980<sup>s</sup> a<sup>b 3</sup>", "login Mr 1980s ab 3"),
        ("m<sup>2<div>For 3 rooms</div>1 to 4", "m²\n\nFor 3 rooms\n\n1 to 4"),
        ("<ul><li>was <s>10<li>now 8</ul><p>Open", "- was\n- now 8\n\nOpen"),
        ("<div><del>Old.<h2>Older</h2>Fee</div>New", "New"),
        ("<p>Fee <s>500<h2>New</h2>450", "Fee\n\n## New\n\n450"),
        ("<del>Old.<p>Older.</p></del>New", "New"),
    ],
)
def test_extracts(html: str, text: str) -> None:
    """T2: blocks stay apart, inline markup goes, what is not shown is left out."""
    assert read("page.html", html).text == text


@pytest.mark.parametrize(
    ("html", "marks"),
    [
        ('<ol start="3"><li>a<li>b</ol>', "3. 4."),
        ("<ol><li>a<li value=7>b<li>c</ol>", "1. 7. 8."),
        ("<ol type=a start=26><li>a<li>b</ol>", "z. aa."),
        ("<ol type=I start=4><li>a<li>b</ol>", "IV. V."),
        ("<ol type=i start=5000><li>a</ol>", "5000."),
        ("<ol type=A start=0><li>a<li>b</ol>", "0. A."),
        ("<ol reversed><li>a<li>b<ol><li>c</ol><li>d</ol>", "3. 2. 1. 1."),
        ("<ol style='color: red; list-style: outside UPPER-roman' start=2><li>a</ol>", "II."),
        ("<ol style='list-style-type:lower-latin'><li>a</ol>", "a."),
        ("<ol type=a style='list-style:none'><li>a</ol>", "-"),
        ("<ol type style='list-style: none decimal'><li>a</ol>", "1."),
        ("<ol reversed start=9><li>a<li>b", "9. 8."),
        ("<ol start=999999999999><li>a<li value=x>b</ol>", "1. 2."),
        ("<ol start=x><li>a</ol><ul start=3><li>b</ul>", "1. -"),
    ],
)
def test_items_have_the_numbers_of_the_page(html: str, marks: str) -> None:
    """T2: a text that names step 3 means the step that the page calls that."""
    assert [line.split()[0] for line in read("page.html", html).text.splitlines() if line] == (
        marks.split()
    )


def test_sections_and_facts() -> None:
    """T2: headings give paths at their places; title, description and date come from the head."""
    loaded = read(
        "page.html",
        "<meta name=description content='On  tea'><title>Tea &amp; co</title>"
        "<meta property='article:modified_time' content='2026-03-01'>"
        "<h1>Green</h1>x<h2>Steep</h2>y<h1>Black</h1>",
    )
    assert loaded.title == "Tea & co"
    assert loaded.summary == "On tea"
    assert str(loaded.modified_at) == "2026-03-01 00:00:00"
    assert [s.path for s in loaded.sections] == ["Green", "Green > Steep", "Black"]
    assert [loaded.text[s.start : s.end].split()[1] for s in loaded.sections] == [
        "Green",
        "Steep",
        "Black",
    ]
    assert not loaded.lines


@pytest.mark.parametrize(
    "unit",
    [
        "<a ",
        "<",
        "<!--",
        "</",
        "<a b='",
        '<a b="c" ',
        "&#",
        "<script>",
        "</a ",
        "<a =",
        "<script></",
    ],
)
def test_unclosed_markup_is_read_once(unit: str) -> None:
    """X2: markup without an end is one tag or text, not a search from every place."""
    assert len(list(parse_tags(unit * 20_000))) <= 2


@pytest.mark.parametrize("unit", ["<div>", "<b id=1>", "<h1>x", "<ul><li>", "<table><tr><td>x"])
def test_deep_pages_are_read(unit: str) -> None:
    """X2: nesting without end needs no stack of calls."""
    assert read("page.html", unit * 5_000 + "end").text.endswith("end")


def test_attributes() -> None:
    """Attributes are read quoted or bare, the first of a name counts."""
    raw = " A=1 b='x y' c = \"&amp;\" hidden a=2"
    assert parse_attributes(raw) == {"a": "1", "b": "x y", "c": "&", "hidden": ""}


CELLS = {
    "<table><tr><td>x<td>y<tr><td>z</table>": "x; y; z",
    "<table><tr><td>x<td><table><tr><td>y</table></table>": "x; y",
    "<ul><li>one<li>two</ul>": "one; two",
    "Parts:<ol><li>one</ol>": "Parts:; one",
    "<ul><li>one<li>two": "one; two",
    "<ol><li>one<li>two": "one; two",
    "<dl><dt>one<dd>two": "one; two",
    "<p>one<p>two": "one two",
    "<div>one<blockquote>two": "one two",
    "<b><a href=x><font>one": "one",
    "<ul>" * 70 + "<li>one": "one",
    "<b>" * 70 + "one": "one",
}


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("ends", ["</td>{}</td></tr>", "<td>{}<tr>"])
def test_what_is_in_a_cell_is_text_of_its_row(cell: str, ends: str) -> None:
    """T2 U1 U2: where the columns have names; a page laid out with tables is no table of rows."""
    between, after = ends.split("{}")
    row = f"<tr><td>A-1<td>{cell}{between.replace('</td>', '</td><td>')}open{after}"
    rows = f"{row}<tr><td>A-2<td>none<td>shut</table><p>After."
    found = read("page.html", f"<table><tr><th>id<th>what<th>state{rows}").text
    shown = f"| A-1 | {CELLS[cell]} | open |"

    assert found.splitlines() == [
        "| id | what | state |",
        shown,
        "| A-2 | none | shut |",
        "",
        "After.",
    ]
    if "; " in CELLS[cell]:
        assert shown not in read("page.html", f"<table>{rows}").text


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ("<tr><td>Line<td colspan=2>Hours<tr><td>Mon<td>9:00<td>17:00", "| Line | Hours | Hours |"),
        ("<tr><td><td colspan=2>Hours<tr><td>Mon<td>9:00<td>17:00", "|  | Hours |"),
        ("<tr><th>Plan<th colspan=2>Basic<tr><td><td>yes<td>no", "| Plan | Basic | Basic |"),
        ("<tr><th>Year<th>2024<th>2024<tr><th><th>good<th>bad", "| Year | 2024 | 2024 |"),
        ("<tr><td>Line<th colspan=2>Fare<tr><td><th>one<th>two", "| Line | Fare | Fare |"),
        ("<tr><th>Line<th colspan=2>Fare<tr><th><th>A<th>B", "| Line | Fare A | Fare B |"),
        ("<tr><td rowspan=2>Line<td colspan=2>Fare<tr><td>A<td>B", "| Line | Fare A | Fare B |"),
        (
            "<tr><td>Line<td colspan=2>2024<td colspan=2>2025<tr><td><td>A<td>B<td>A<td>B",
            "| Line | 2024 A | 2024 B | 2025 A | 2025 B |",
        ),
    ],
)
def test_names_of_two_lines_are_told_from_values(rows: str, first: str) -> None:
    """U2: by their marks, by cells that span both lines, or because they are there again."""
    found = read("page.html", f"<table>{rows}<tr><td>7<td>8<td>9</table>").text

    assert found.splitlines()[0] == first


@pytest.mark.parametrize(
    "table",
    [
        "<tr><td rowspan=65000 colspan=65000>a</td><td>b</td></tr>" * 3_000,
        "<tr>" + "<td rowspan=65000 colspan=99>a" * 3_000 + "<tr><td>b" * 3_000,
        ("<tr><td colspan=999>a<td>b<tr><td>c</table><table>") * 3_000,
    ],
)
def test_spans_without_end_cost_no_more_than_their_page(table: str) -> None:
    """T2, X2: however far cells span, what is repeated is bounded by what is written."""
    page = f"<table>{table}</table>"

    assert len(read("page.html", page).text) < len(page) + 20_000


@pytest.mark.parametrize(
    "table",
    [
        f"<tr><td rowspan=400>{'Long ' * 40}<td>0<td>n" + "<tr><td>1<td>n" * 399,
        f"<tr><td colspan=12>{'Long ' * 40}<td>n" * 60,
    ],
)
def test_columns_stay_where_they_are_without_what_spans(table: str) -> None:
    """U2: a value that may not be repeated any more leaves empty cells."""
    rows = read("page.html", f"<table>{table}</table>").text.splitlines()

    assert any("|  |" in row for row in rows)
    assert len({row.count("|") for row in rows}) == 1


def test_tables_of_one_row_are_text() -> None:
    """T2: a table that lays out an address or links has no rows."""
    found = read(
        "page.html",
        "<table><tr><td>Mill Ltd<br>1 Weir Road<td>Phone: 12</table>"
        "<table><tr><td><a>Home</a><td><a>Shop</a></tr></table><p>Welcome.",
    ).text

    assert found == "Mill Ltd\n1 Weir Road\nPhone: 12\n\nHome\nShop\n\nWelcome."


@pytest.mark.parametrize(
    "sign",
    [
        "<img src=a.png alt='yes'>",
        "<i class=tick aria-label=yes></i>",
        "<span title=yes></span>",
        "<svg viewBox='0 0 1 1'><title>yes</title><path d=M0></svg>",
    ],
)
def test_signs_in_cells_are_what_they_stand_for(sign: str) -> None:
    """T2: a picture that is all that a cell has is read by the words that the page has for it."""
    rows = f"<tr><td>SSO<td>{sign}<tr><td>Logs<td>yes {sign}"
    found = read("page.html", f"<table><tr><th>Feature<th>Team{rows}</table>").text

    assert found.splitlines() == ["| Feature | Team |", "| SSO | yes |", "| Logs | yes |"]


def test_hidden_rows_and_cells_are_left_out() -> None:
    """T2: they are in no column, either."""
    found = read(
        "page.html",
        "<table><tr><th>a<th style='display:none'>b<th>c<tr hidden><td>1<td>2<td>3"
        "<tr><td rowspan=2>4<td style='display:none'>5<td>6<tr><td>7</table>",
    ).text

    assert found.splitlines() == ["| a | c |", "| 4 | 6 |", "| 4 | 7 |"]
