// A context as the model reads it: its very characters, blocks marked at the side, evidence lit.

import { button, copied, el, fill } from "./dom.js";
import { alone, evidence, goldRanges } from "./evidence.js";
import { LABELS } from "./fates.js";
import { many, percent, whole } from "./figures.js";
import { setApart } from "./marked.js";
import { characters, cutter } from "./spans.js";

/** `look`: `{terms, gold, other}`, `other` the text of the context beside it; `why(id, from)`: jump to a candidate. Blocks get the ids `name-index`. */
export function showPane(host, name, title, run, look, why) {
  const cut = cutter(run.text);
  const parts = [];
  let at = 0;
  run.blocks.forEach((block, index) => {
    const [start, end] = block.span;
    if (start > at) parts.push(frame(cut(at, start), parts.length > 0));
    parts.push(body(block, cut(start, end), `${name}-${index}`, look, why));
    at = end;
  });
  const rest = cut(at, Infinity);
  if (rest) parts.push(frame(rest, parts.length > 0));
  const reading = host.querySelector(".reading");
  if (reading && run.text) {
    // One reads on at the same place while the slider moves, and nothing is measured for that.
    reading.previousElementSibling.replaceWith(header(name, title, run, look));
    fill(reading, parts);
    return;
  }
  fill(
    host,
    header(name, title, run, look),
    run.text === ""
      ? el("p", { class: "nothing" }, nothingSaid(run))
      : el(
          "div",
          { class: "reading", tabindex: "0", role: "group", "aria-labelledby": `${name}-title` },
          parts,
        ),
  );
}

/** Why a context is empty: nothing was found, or nothing fits. */
function nothingSaid(run) {
  return run.trace[0]?.notes.no_candidates
    ? "Nothing found: the store holds nothing that matches and that you may read. Upload files, or run `foveate index FOLDER`."
    : "No block fits, so the model would read nothing.";
}

function header(name, title, run, { gold }) {
  const documents = new Set(run.blocks.map((block) => block.document_id)).size;
  return el(
    "header",
    null,
    el("div", { class: "row" }, el("h3", { id: `${name}-title` }, title), copy(run.text)),
    el(
      "p",
      null,
      `${many(run.blocks.length, "block")} of ${many(documents, "document")}, ${whole(run.token_count)} of ${whole(run.tokens)} tokens`,
    ),
    gold.trim() &&
      el("p", { class: "gold-said" }, "Expected answer: ", el("b", null, goldSaid(run, gold))),
  );
}

/** Where the expected answer stands, `block 2, at 31 %` of the text. */
export function goldSaid(run, gold) {
  const [first] = goldRanges(run.text, gold);
  if (!first) return "not in it";
  const place = characters(run.text.slice(0, first.start));
  const block = run.blocks.find(({ span: [start, end] }) => start <= place && place < end);
  const where = `at ${percent(place / Math.max(1, characters(run.text)))}`;
  return block ? `block ${block.marker}, ${where}` : where;
}

const copy = (text) => button("small", "Copy", (from) => copied(from, text));

/** What stands around the blocks. A line feed that the page's own line break shows is folded. */
function frame(text, follows) {
  const folds = follows && text.startsWith("\n");
  return el(
    "div",
    { class: "frame" },
    folds && el("span", { class: "fold" }, "\n"),
    folds ? text.slice(1) : text,
  );
}

function body(block, text, id, { terms, gold, other }, why) {
  return el(
    "div",
    {
      class: `body ${block.rendition}`,
      id,
      tabindex: "-1",
      role: "group",
      "aria-label": `Block ${block.marker}, ${block.source}`,
    },
    el(
      "span",
      { class: "how" },
      el(
        "span",
        { class: `chip ${block.rendition === "extract" ? "joined" : "shown"}` },
        LABELS[block.rendition] || block.rendition,
      ),
      why &&
        block.chunk_ids.length > 0 &&
        el(
          "button",
          {
            type: "button",
            "aria-label": `Why is block ${block.marker} there?`,
            onclick: (event) => why(block.chunk_ids[0], event.currentTarget),
          },
          "why",
        ),
    ),
    setApart(text, evidence(text, terms, gold), other === undefined ? [] : alone(text, other)),
  );
}
