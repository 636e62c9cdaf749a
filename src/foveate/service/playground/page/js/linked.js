// An answer's text with its markers as links to what they stand for.

import { el } from "./dom.js";

/** Nodes; `jumpTo(marker, from)`. `dangling`: spans of markers that name nothing. */
export function linked(text, citations, jumpTo, dangling = []) {
  const byLabel = new Map(citations.map((entry) => [entry.label, entry]));
  const wrong = new Set(dangling.map((one) => one.text));
  const labels = [...byLabel.keys(), ...wrong]
    .filter(Boolean)
    .sort((one, other) => other.length - one.length);
  if (!labels.length) return [text];
  const pattern = new RegExp(
    labels.map((label) => label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"),
    "gu",
  );
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    nodes.push(text.slice(at, found.index));
    const entry = byLabel.get(found[0]);
    nodes.push(
      entry
        ? link(entry, jumpTo)
        : el("span", { class: "dangling", title: "It names nothing." }, found[0]),
    );
    at = found.index + found[0].length;
  }
  return [...nodes, text.slice(at)];
}

const link = (entry, jumpTo) =>
  el(
    "a",
    {
      class: "cited",
      href: `#source-${entry.marker}`,
      title: entry.source,
      onclick: (event) => {
        event.preventDefault();
        jumpTo(entry.marker, event.currentTarget);
      },
    },
    entry.label,
  );
