// A text with ranges of it marked, as nodes.

import { el } from "./dom.js";

/** The same as `marked`, and the parts that are `apart` in a span each; no mark is torn. */
export function setApart(text, ranges, apart) {
  const whole = (at) => ranges.find((one) => one.start < at && at < one.end)?.start ?? at;
  const piece = (from, to) => {
    const inside = ranges.filter((one) => from <= one.start && one.end <= to);
    const moved = inside.map((one) => ({ ...one, start: one.start - from, end: one.end - from }));
    return marked(text.slice(from, to), moved);
  };
  const nodes = [];
  let at = 0;
  for (const [start, end] of apart.map((one) => [whole(one.start), whole(one.end)])) {
    nodes.push(...piece(at, start), el("span", { class: "alone" }, piece(start, end)));
    at = end;
  }
  return [...nodes, ...piece(at, text.length)];
}

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
