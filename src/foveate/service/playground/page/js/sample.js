// An example to start from: copies of an introduction crowd out the one text that answers.

export const QUESTION = "What does a berth in the old harbour cost in winter?";
export const GOLD = "14 euros a metre";
export const BUDGET = 180;

const page = (id, source, title, score, text, more = {}) => ({
  id,
  source,
  title,
  score,
  text,
  ...more,
});

const INTRODUCTION =
  "The winter tariff of the old harbour holds from November to March. The council sets it every September, and it is paid in advance at the harbour office. Whoever pays for the whole winter by October is spared the January rise.";

export const CANDIDATES = [
  page(
    "tariff-2",
    "tariffs-2025.md",
    "Harbour tariffs 2025",
    0.92,
    INTRODUCTION,
  ),
  page(
    "mirror-2",
    "mirror/tariffs.html",
    "Harbour tariffs 2025",
    0.91,
    INTRODUCTION,
  ),
  page(
    "notice-2",
    "notices/board.md",
    "Notice board",
    0.9,
    INTRODUCTION.replace("it is paid", "is paid"),
  ),
  page(
    "tariff-old",
    "archive/tariffs-2019.md",
    "Harbour tariffs 2019",
    0.84,
    "The winter tariff of 2019 held from November to March. Water and shore power were included then, and berths were let by the week.",
    { modified_at: "2019-01-15T00:00:00Z" },
  ),
  page(
    "tariff-3",
    "tariffs-2025.md",
    "Harbour tariffs 2025",
    0.81,
    "In winter a berth in the old harbour costs 14 euros a metre and month. Water and shore power are paid by the meter. Boats over twelve metres pay half as much again.",
  ),
  page(
    "north-1",
    "north-basin.md",
    "The north basin",
    0.74,
    "The north basin has no winter tariff: it is closed from November to March, because ice drifts in with the north wind. Boats are lifted out in the last week of October.",
  ),
  page(
    "rules-1",
    "rules.md",
    "Harbour rules",
    0.69,
    "Who wants a berth in winter writes to the harbour master before the first of October. Berths of the year before are given first to those who had them. The old harbour has forty of them, and none for boats over fifteen metres.",
  ),
  page(
    "tariff-4",
    "tariffs-2025.md",
    "Harbour tariffs 2025",
    0.6,
    "From April to October a berth in the old harbour costs 22 euros a metre and month. In July and August berths are let by the week alone.",
  ),
  page(
    "guest-1",
    "guests.md",
    "Guests",
    0.52,
    "Guests pay by the night: 3 euros a metre in summer, 2 in winter, harbour dues included. The first two hours at the quay are free.",
  ),
  page(
    "crane-1",
    "crane.md",
    "The crane",
    0.41,
    "The crane lifts boats up to nine tonnes. A lift costs 85 euros, and 40 more on Sundays. It does not work in winds over 12 metres a second.",
  ),
  page(
    "fish-1",
    "fish-market.md",
    "Fish market",
    0.22,
    "The fish market in the old harbour opens at six, in winter at seven. Fishing boats have the quay to themselves until nine.",
  ),
];
