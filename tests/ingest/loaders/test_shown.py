"""What files show beside their paragraphs: charts, diagrams, merged cells, boxes, struck texts."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import pptx
import pytest
from pptx.chart.data import BubbleChartData, CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE

from documents import SENT, epub, odf, part_of, read, repacked, saved, slides, word
from foveate.ports import LoadedDocument
from illustrated import pdf_file, picture, slides_file

SLIDE, CHART = "ppt/slides/slide1.xml", "ppt/charts/{}"
_KIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _deck(draw: Any) -> bytes:
    show = pptx.Presentation()
    draw(show.slides.add_slide(show.slide_layouts[5]))
    return saved(show)


def _berths(kind: Any, title: str = "") -> Any:
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["May", "June"]
    data.add_series("Guests", (0.192, None))
    data.add_series("Boats", (0.07, 0.085))

    def draw(slide: Any) -> None:
        chart = slide.shapes.add_chart(kind, 0, 0, 4_000_000, 2_000_000, data).chart
        if title:
            chart.has_title = True
            chart.chart_title.text_frame.text = title

    return draw


@pytest.mark.parametrize("kind", ["COLUMN_CLUSTERED", "LINE", "BAR_STACKED", "AREA"])
def test_a_chart_is_the_rows_of_its_values(kind: str) -> None:
    """V1: categories and series with their names, as their format shows them, empty ones too."""
    loaded = read("a.pptx", _deck(_berths(getattr(XL_CHART_TYPE, kind), "Berths taken")))
    assert "Berths taken\n\n|  | Guests | Boats |\n| May | 19.2% | 7.0% |\n" in loaded.text
    assert loaded.text.endswith("| June |  | 8.5% |")
    assert not loaded.left_out
    pie = read("a.pptx", _deck(_berths(XL_CHART_TYPE.PIE))).text
    assert pie == "|  | Guests |\n| May | 19.2% |\n| June |  |"


def test_points_have_both_their_values() -> None:
    """V1: a scatter chart has two columns, one of bubbles three."""

    def draw(slide: Any) -> None:
        points, bubbles = XyChartData(), BubbleChartData()
        points.add_series("Depth").add_data_point(1.5, 20)
        bubbles.add_series("Load").add_data_point(1, 2, 30)
        for kind, data in (("XY_SCATTER", points), ("BUBBLE", bubbles)):
            slide.shapes.add_chart(getattr(XL_CHART_TYPE, kind), 0, 0, 4_000_000, 900_000, data)

    text = read("a.pptx", _deck(draw)).text
    assert "| Depth, x | Depth, y |\n| 1.5 | 20 |" in text
    assert "| Load, x | Load, y | Load, size |\n| 1 | 2 | 30 |" in text


def _without_values(data: bytes) -> bytes:
    name = re.search(
        r"charts/(chart[0-9]+[.]xml)", part_of(data, "ppt/slides/_rels/slide1.xml.rels")
    )
    assert name is not None
    part = CHART.format(name[1])
    cache = re.compile(r"<c:(num|str)Cache>.*?</c:(num|str)Cache>", re.DOTALL)
    bare = cache.sub("", part_of(data, part))
    return repacked(data, {part: bare.encode()})


def test_a_chart_without_its_values_is_counted() -> None:
    """V1: a file need not keep them; a reference that leads nowhere has none either."""
    deck = _deck(_berths(XL_CHART_TYPE.LINE))
    assert read("a.pptx", _without_values(deck)).left_out == {"charts": 1}
    lost = part_of(deck, SLIDE).replace("r:id=", 'r:id="rId99" r:no=')
    assert read("a.pptx", repacked(deck, {SLIDE: lost.encode()})).left_out == {"charts": 1}


POINTS = {
    "0": "", "1": "Harbour", "2": "Keeper", "3": "Guests", "4": "Boats",
}  # fmt: skip
UNDER = [("0", "1", 0), ("1", "3", 1), ("1", "2", 0), ("3", "4", 0)]


def _diagram(points: dict[str, str], under: list[tuple[str, str, int]]) -> bytes:
    space = (
        'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    )
    said = "".join(
        f'<dgm:pt modelId="{key}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        for key, text in points.items()
    )
    lines = "".join(
        f'<dgm:cxn modelId="c{n}" srcId="{a}" destId="{b}" srcOrd="{place}"/>'
        for n, (a, b, place) in enumerate(under)
    )
    data = f"<dgm:dataModel {space}><dgm:ptLst>{said}</dgm:ptLst><dgm:cxnLst>{lines}</dgm:cxnLst>"
    deck = slides([("Who", "", "")])
    frame = (
        '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds xmlns:dgm="http://schemas.'
        f'openxmlformats.org/drawingml/2006/diagram" xmlns:r="{_KIN}" r:dm="d1"/></a:graphicData>'
        "</a:graphic></p:graphicFrame></p:spTree>"
    )
    rels = "ppt/slides/_rels/slide1.xml.rels"
    target = f'<Relationship Id="d1" Type="{_KIN}/diagramData" Target="../diagrams/data1.xml"/>'
    return repacked(
        deck,
        {
            SLIDE: part_of(deck, SLIDE).replace("</p:spTree>", frame).encode(),
            rels: part_of(deck, rels)
            .replace("</Relationships>", f"{target}</Relationships>")
            .encode(),
            "ppt/diagrams/data1.xml": f"{data}</dgm:dataModel>".encode(),
        },
    )


def test_a_diagram_is_a_list() -> None:
    """V1: its texts in their order, below one another; one without texts is counted."""
    text = read("a.pptx", _diagram(POINTS, UNDER)).text
    assert text == "# Who\n\n- Harbour\n  - Keeper\n  - Guests\n    - Boats"
    assert read("a.pptx", _diagram({"0": ""}, [])).left_out == {"diagrams": 1}
    circle = _diagram({"1": "a", "2": "b"}, [("1", "2", 0), ("2", "1", 0)])
    assert read("a.pptx", circle).text == "# Who\n\n- a\n  - b"


def _word(body: str) -> LoadedDocument:
    empty = word(lambda document: None)
    main = part_of(empty, "word/document.xml").replace("<w:body>", f"<w:body>{body}", 1)
    return read("a.docx", repacked(empty, {"word/document.xml": main.encode()}))


def _run(text: str, told: str = "") -> str:
    return f'<w:r><w:rPr>{told}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', "☒"),
        ('<w:checkBox><w:default w:val="1"/></w:checkBox>', "☒"),
        ('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "☐"),
        ("<w:checkBox/>", "☐"),
        (('<w:ddList><w:result w:val="1"/><w:listEntry w:val="no"/><w:listEntry w:val="yes"/>'
         "</w:ddList>"), "yes"),
        ('<w:ddList><w:listEntry w:val="no"/></w:ddList>', "no"),
        ('<w:ddList><w:result w:val="7"/></w:ddList>', ""),
    ],
)  # fmt: skip
def test_fields_of_word_forms(told: str, shown: str) -> None:
    """V1: a box is shown as it is ticked, a list as what is chosen of it."""
    field = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{told}</w:ffData></w:fldChar></w:r>'
    text = _word(f"<w:p>{_run('Box: ')}{field}{_run(' allergic')}</w:p>").text
    assert text == f"Box: {shown} allergic"


def test_struck_out_texts_are_left_out_and_counted() -> None:
    """V1: a price that was struck out is none; a page's style strikes as its elements do."""
    loaded = _word(f"<w:p>{_run('Price ')}{_run('100 ', '<w:strike/>')}{_run('80 euro')}</w:p>")
    assert (loaded.text, loaded.left_out) == ("Price 80 euro", {"struck-out texts": 1})
    kept = _word("<w:p>" + _run("80 euro", '<w:strike w:val="0"/>') + "</w:p>")
    assert (kept.text, kept.left_out) == ("80 euro", {})
    styles = (
        '<office:automatic-styles><style:style style:name="T1" style:family="text">'
        '<style:text-properties style:text-line-through-style="solid"/></style:style>'
        "</office:automatic-styles>"
    )
    body = '<text:p>Price <text:span text:style-name="T1">100 </text:span>80 euro</text:p>'
    assert read("a.odt", odf("text", body, styles=styles)).text == "Price 80 euro"
    page = "<p>Price <span style='text-decoration: underline line-through'>100 </span>80 euro"
    assert read("a.html", page).text == "Price 80 euro"


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<p>Text<footer>Imprint. Cookies.</footer>", "Text"),
        ("<div>Text<aside>More links</aside></div>", "Text"),
        ("<main>Text<aside>Note: wear gloves.</aside></main>", "Text\n\nNote: wear gloves."),
        ("<blockquote>Said<footer>Ann</footer></blockquote>", "Said\n\nAnn"),
        ("<ul><li><input type=checkbox checked disabled> tea<li><input type=checkbox> milk</ul>",
         "- ☒ tea\n- ☐ milk"),
        ("<input type=checkbox id=menu><p>Text", "Text"),
        ("<p><input type=hidden checked>Text <input type=text value=x></p>", "Text"),
        ("<table><tr><th>Part<th>Done<tr><td>Seal<td><input type=checkbox checked></table>",
         "| Part | Done |\n| Seal | ☒ |"),
    ],
)  # fmt: skip
def test_furniture_and_boxes_of_pages(page: str, shown: str) -> None:
    """V1: the site's footer and asides are left out as its navigation is; boxes show their tick."""
    assert read("a.html", page).text == shown


PICTURES = [
    ("a.html", "<p>The <img src=a.png alt='old mill'>, <img src=b.png><img src=a.png alt=mill>",
     "The [picture: old mill], [picture: mill]", 2),
    ("a.html", "<p>Mill<img src=c alt=''><img src=d alt=dot width=1><p hidden><img src=e>",
     "Mill", 0),
    ("a.html", "<ul><li>Mill <img alt='the\n wheel' src=a.png></ul><nav><img src=x.png></nav>",
     "- Mill [picture: the wheel]", 1),
    ("a.html", "<h1><img src=a.png alt='Mill'></h1><p>Old.", "# [picture: Mill]\n\nOld.", 1),
    ("a.html", "<table><tr><th>A<th>B<tr><td><img src=a alt=yes><td>x <img src=b alt=no></table>",
     "| A | B |\n| yes | x |", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source", "text", "count"), PICTURES)
def test_pictures_of_a_page(name: str, source: str, text: str, count: int) -> None:
    """V1: words for them are read, each that is shown is counted once; decorations are neither."""
    loaded = read(name, source)
    assert (loaded.text, loaded.left_out) == (text, {"pictures": count} if count else {})


def test_pictures_of_office_files_are_read_by_their_words() -> None:
    """V1: where they stand; file names are no words, and a picture is counted once."""

    def write(document: Any) -> None:
        for words in ("The  wheel,\nfrom the yard", "image1.png", ""):
            run = document.add_paragraph("See").add_run()
            run.add_picture(BytesIO(picture("red")))._inline.docPr.set("descr", words)

    loaded = read("a.docx", word(write))
    assert loaded.text.split("\n\n") == ["See [picture: The wheel, from the yard]", "See", "See"]
    assert loaded.left_out == {"pictures": 1}
    slides = read("a.pptx", slides_file())
    assert slides.text.endswith("# The wheel of the mill is of 1880.\n\n[picture: The wheel]")
    assert slides.left_out == {"pictures": 1}
    assert read("a.pdf", pdf_file()).left_out == {"pictures": 2}


@pytest.mark.parametrize("name", ["a.epub", "a.eml"])
def test_pictures_of_pages_inside_of_files(name: str) -> None:
    """V1: of all chapters of a book, and of the page that a mail shows."""
    page = "<p>See <img src='a.png' alt='the wheel'/></p>"
    mail = f"{SENT}Content-Type: text/html\n\n{page}"
    loaded = read(name, mail if name == "a.eml" else epub({"1.xhtml": page, "2.xhtml": page}))
    assert loaded.text.startswith("See [picture: the wheel]")
    assert loaded.left_out == {"pictures": 1}


FRAME = (
    "<draw:frame xmlns:svg='urn:svg'>{}<draw:image xlink:href='{}'/>"
    "<svg:title>T</svg:title>{}</draw:frame>"
)


def test_pictures_of_opendocument_texts() -> None:
    """V1: an image beside an object shows that once more, and is none."""
    frames = [
        FRAME.format("", "a.png", "<svg:desc>The wheel</svg:desc>"), FRAME.format("", "a.png", ""),
        FRAME.format("<draw:object xlink:href='./Object 1'/>", "b.png", ""),
    ]  # fmt: skip
    loaded = read("a.odt", odf("text", "".join(f"<text:p>See{frame}</text:p>" for frame in frames)))
    assert loaded.text == "See [picture: The wheel]\n\nSee [picture: T]\n\nSee"
    assert loaded.left_out == {"embedded objects": 1, "pictures": 1}
