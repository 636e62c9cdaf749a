"""A small handbook of our own: pages with a copy, an old version, and neighbours worth joining."""

from __future__ import annotations

from pathlib import Path

from foveate.ingest import Enrich
from foveate.ingest.run import ingest
from foveate.plugins import embedder
from foveate.providers.tokenizers import load_tokenizer
from foveate.stores import open_store

QUESTION = "What does a berth in the old harbour cost in winter?"
GOLD = "14 euros a metre"

TARIFFS = """# Tariffs of the harbour

What a berth costs depends on the basin, the season and the length of the boat. All prices hold for
a month and include the dues of the town. They are paid in advance, at the office or by transfer.

## Summer

From April to October a berth in the old harbour costs 22 euros a metre. In July and August berths
are let by the week alone, at 7 euros a metre. The north basin is cheaper by a third, since it is
open to the swell and has no shore power.

## Winter

From November to March a berth in the old harbour costs 14 euros a metre. Water and shore power are
paid by the meter. Boats over twelve metres pay half as much again, for they take two places at the
quay. Whoever pays for the whole winter at once gets the last month free.

## Guests

Guests pay by the night: 3 euros a metre in summer and 2 in winter, harbour dues included. The first
two hours at the quay are free. Guests who stay for more than a week are asked to the office.
"""
OLD = """# Tariffs of the harbour, 2019

From November to March a berth in the old harbour costs 11 euros a metre. Water and shore power are
included. Boats over twelve metres pay a third more.
"""
RULES = """# Rules of the harbour

Whoever wants a berth in winter writes to the harbour master before the first of October. Berths of
the year before are given first to those who had them. The old harbour has forty of them, and none
for boats over fifteen metres.

## Lines and fenders

Lines are doubled before a gale is forecast. The harbour master may double them at the owner's cost.
Fenders hang on both sides, for a neighbour may come at any hour.

## Fire

Heaters may not run unattended. Open fire is forbidden on the quay and on deck. Each boat carries an
extinguisher that was checked within the last two years.
"""
NORTH = """# The north basin

The north basin has no winter tariff: it is closed from November to March, because ice drifts in
with the north wind. Boats are lifted out in the last week of October.

## Depth

At low water there are two metres at the entrance and three at the quay. The western end silts up
and is dredged every third spring.
"""
CRANE = """# The crane

The crane lifts boats of up to nine tonnes. A lift costs 85 euros, and 40 more on Sundays. It does
not work in winds over twelve metres a second. In winter it is served on Tuesdays alone.
"""
MARKET = """# The fish market

The fish market in the old harbour opens at six, in winter at seven. Fishing boats have the quay to
themselves until nine. What is not sold by ten goes to the smokehouse.
"""
NEWS = """# Newsletter of November

A reminder for winter: from November to March a berth in the old harbour costs 14 euros a metre. The
office is open on Mondays and Thursdays. The new pump at the fuel quay works.
"""
PAGES = {
    "tariffs.md": TARIFFS,
    "mirror/tariffs.md": TARIFFS,
    "archive/tariffs-2019.md": OLD,
    "rules.md": RULES,
    "north-basin.md": NORTH,
    "crane.md": CRANE,
    "fish-market.md": MARKET,
    "news/november.md": NEWS,
}


def filled(folder: Path, pages: dict[str, str] | None = None) -> Path:
    """A store of the handbook, or of these pages."""
    manual = folder / "handbook"
    for name, text in (PAGES if pages is None else pages).items():
        (manual / name).parent.mkdir(parents=True, exist_ok=True)
        (manual / name).write_text(text, encoding="utf-8")
    hashing = embedder("hashing")
    path = folder / "store"
    with open_store(path, embedder_name=hashing.name, dimensions=hashing.dimensions) as store:
        ingest(
            manual, store, hashing, load_tokenizer("cl100k_base"), size=60, overlap=15,
            enrich=Enrich(questions=True),
        )  # fmt: skip
    return path
