// A marker in an answer, as the service resolved it: a link to what it stands for, or a warning.

import { el } from "./dom.js";

/** Nodes for one marker, `[1]` or `[1, 2]`; `jumpTo(marker, from)`. */
export function cited({ text, citations }, jumpTo) {
  if (citations.length === 0) {
    return el("span", { class: "dangling", title: "It names nothing that was shown." }, text);
  }
  if (citations.length === 1) return link(text, citations[0], jumpTo);
  const left = [...citations];
  return text
    .split(/(\d+)/)
    .map((part) => (/\d/.test(part) && left.length > 0 ? link(part, left.shift(), jumpTo) : part));
}

const link = (text, entry, jumpTo) =>
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
    text,
  );
