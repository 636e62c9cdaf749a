"""The site of the documentation: pages gathered, links led, the reference of names made, built.

python -m tools.docsite      writes build/site; warnings are errors
"""
