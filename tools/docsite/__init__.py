"""The site of the documentation: `python -m tools.docsite` writes build/site, without a warning.

links.py     a page's links → where they lead on the site
pages.py     the repository's Markdown → the site's
order.py     which page stands where; column.py: the column beside the text
sources.py   plain pages of files that others name
api.py       a page a module, by signatures.py and docstrings.py
build.py     all of it, and Sphinx (conf.py)
examples.py  what each stage and recipe makes of one small pool; `tools/docs.py` writes it down
"""
