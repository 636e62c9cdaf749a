"""Files with images, made on the spot by the formats' own writers."""

from __future__ import annotations

from io import BytesIO

import docx
import pptx
import pypdfium2
from PIL import Image as Picture
from pypdfium2 import PdfBitmap, PdfImage, PdfMatrix

from documents import pdf, saved


def picture(colour: str, size: tuple[int, int] = (60, 40), kind: str = "PNG") -> bytes:
    """An image of one colour."""
    out = BytesIO()
    Picture.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def pdf_file() -> bytes:
    """A PDF of two pages with text; the second shows a JPEG and a bitmap."""
    found = pypdfium2.PdfDocument(pdf(["The mill is old.", "The wheel of the mill is of 1880."]))
    page = found[1]
    photo = PdfImage.new(found)
    photo.load_jpeg(BytesIO(picture("red", kind="JPEG")))
    drawing = PdfImage.new(found)
    drawing.set_bitmap(PdfBitmap.from_pil(Picture.new("RGB", (50, 70), (10, 20, 30))))
    for shown, left in ((photo, 50), (drawing, 200)):
        shown.set_matrix(PdfMatrix().scale(100, 100).translate(left, 300))
        page.insert_obj(shown)
    page.gen_content()
    out = BytesIO()
    found.save(out)
    found.close()
    return out.getvalue()


def word_file(image: bytes | None = None) -> bytes:
    """A Word file with an image and its alternative text behind the second paragraph."""
    document = docx.Document()
    document.add_paragraph("The mill is old.")
    document.add_paragraph("The wheel of the mill is of 1880.")
    document.add_picture(BytesIO(image or picture("red")))
    shape = document.inline_shapes[0]
    shape._inline.docPr.set("descr", "The  wheel,\nfrom the yard")
    document.add_picture(BytesIO(picture("red", (9, 9))))
    return saved(document)


def slides_file() -> bytes:
    """A presentation whose second slide has an image."""
    show = pptx.Presentation()
    for title in ("The mill", "The wheel of the mill is of 1880."):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = title
    shown = slide.shapes.add_picture(BytesIO(picture("red")), 0, 0)
    shown._element.nvPicPr.cNvPr.set("descr", "The wheel")
    slide.shapes.add_picture(BytesIO(picture("red")), 0, 0)
    return saved(show)


FILES = {"mill.pdf": pdf_file, "mill.docx": word_file, "mill.pptx": slides_file}
