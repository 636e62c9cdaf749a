// The list of sources: what each marker stands for, linked with its block both ways.

import { el, fill } from "./dom.js";
import { many } from "./figures.js";

/** `toBlock(index, from)` jumps to the block of a marker. */
export function showSources(host, run, toBlock) {
  fill(
    host,
    el("h3", null, "Citations"),
    run.citations.length === 0 && el("p", { class: "quiet" }, "None: there is nothing to cite."),
    run.citations.length > 0 &&
      el(
        "ol",
        { class: "sources", tabindex: "0", "aria-label": "Citations" },
        run.citations.map((entry) => source(entry, run, toBlock)),
      ),
  );
}

function source(entry, run, toBlock) {
  const index = blockOf(entry.marker, run.citations, run.blocks);
  return el(
    "li",
    { id: `source-${entry.marker}`, tabindex: "-1" },
    el(
      "span",
      null,
      el(
        "a",
        {
          href: `#assembled-${index}`,
          "aria-label": `Go to what [${entry.marker}] stands for`,
          onclick: (event) => {
            event.preventDefault();
            toBlock(index, event.currentTarget);
          },
        },
        `[${entry.marker}]`,
      ),
    ),
    el(
      "div",
      null,
      el("p", { class: "where" }, place(entry)),
      el("p", { class: "snippet" }, `“${entry.snippet}”`),
      entry.corroborating.length > 0 &&
        el(
          "p",
          { class: "also" },
          `also in ${[...new Set(entry.corroborating.map((one) => one.source))].join(", ")}`,
        ),
    ),
  );
}

/** The block that a marker's first span of the context stands in. */
export function blockOf(marker, citations, blocks) {
  const entry = citations.find((one) => one.marker === marker);
  const start = entry?.context_spans[0]?.[0] ?? -1;
  const found = blocks.findIndex(({ span }) => span[0] <= start && start < span[1]);
  return found >= 0 ? found : blocks.findIndex((block) => block.marker === marker);
}

/** Source, title, section, page, row, line, chunks: as far as they are known. */
export function place(entry) {
  const named = [
    ["page", entry.page],
    ["row", entry.row],
    ["line", entry.line],
  ].filter(([, value]) => value !== null);
  const nested = entry.section.startsWith(entry.title);
  const parts = [
    entry.source,
    nested ? "" : entry.title,
    entry.section,
    ...named.map(([name, value]) => `${name} ${value}`),
    many(entry.chunk_ids.length, "chunk"),
  ];
  return parts.filter(Boolean).join(" · ");
}
