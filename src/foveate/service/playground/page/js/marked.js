// A text with ranges of it marked, as nodes.

import { el } from "./dom.js";

/** Text nodes and `mark` elements; together they hold exactly the text. */
export function marked(text, ranges) {
  const nodes = [];
  let at = 0;
  for (const { start, end, gold } of ranges) {
    if (start < at) continue;
    if (start > at) nodes.push(text.slice(at, start));
    nodes.push(el("mark", { class: gold && "gold" }, text.slice(start, end)));
    at = end;
  }
  if (at < text.length) nodes.push(text.slice(at));
  return nodes;
}
