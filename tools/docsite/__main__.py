"""Builds the site; what is wrong with it is printed, and ends with 1."""

from __future__ import annotations

import sys
import time

from tools.docsite.build import OUT, ROOT, build
from tools.docsite.links import Broken

begun = time.perf_counter()
try:
    count = build()
except Broken as error:
    sys.exit(f"site: {error}")
print(f"site: {count} pages in {OUT.relative_to(ROOT)}, {time.perf_counter() - begun:.1f} s")
