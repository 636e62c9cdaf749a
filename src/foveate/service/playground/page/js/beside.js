// The two contexts in figures: what each says about itself.

import { el, fill, table } from "./dom.js";
import { percent, whole } from "./figures.js";
import { goldSaid } from "./pane.js";

export function showBeside(host, run, naive, gold) {
  const documents = ({ blocks }) => new Set(blocks.map((block) => block.document_id)).size;
  const rows = [
    ["Tokens", (one) => whole(one.token_count)],
    ["Sources", (one) => whole(documents(one))],
    ["Repeated text", (one) => percent(one.metrics.redundancy)],
    ["Distinct words", (one) => percent(one.metrics.unique_token_share)],
    ["Neighbouring blocks from the same source", (one) => percent(one.metrics.adjacency)],
    ["Top-3 blocks within the first 5", (one) => percent(one.metrics.top3_in_first5)],
    ...(gold.trim() ? [["Expected answer", (one) => goldSaid(one, gold)]] : []),
  ];
  const both = [run, naive];
  fill(
    host,
    el("h3", { id: "beside-title" }, "Side by side"),
    table(
      { "aria-labelledby": "beside-title", kind: "n" },
      ["Measure", ...both.map((one) => one.manifest.recipe)],
      rows.map(([name, of]) => [name, ...both.map(of)]),
    ),
  );
}
