"""What Sphinx is told; `build.py` calls it."""

from foveate import __version__

project = "foveate"
language = "en"
extensions = ["myst_parser", "tools.docsite.column"]
root_doc = "index"

myst_heading_anchors = 6
# a file that is no page of the documentation: its address is written out in `links.py`
myst_url_schemes = {"http": None, "https": None, "mailto": None, "source": "{{path}}"}

html_theme = "furo"
html_title = f"foveate {__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_last_updated_fmt = None
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries = False
# where two things have one name, a type's name leads to neither; it does not stop the build
suppress_warnings = ["ref.python"]
