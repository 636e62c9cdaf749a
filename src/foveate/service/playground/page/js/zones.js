// The token bar by zone, and what each block takes of the documents' zone.

import { el, fill } from "./dom.js";
import { many, percent, whole } from "./figures.js";
import { characters } from "./spans.js";

const ZONES = ["system", "documents", "conversation", "query", "generation", "buffer"];

/** The blocks into `used`, beside the budget; the window into `bars`. `toBlock(index, from)` jumps
 *  to a block of the context. */
export function showZones({ used, bars }, run, toBlock) {
  const { budget } = run;
  fill(used, blocksBar(run, toBlock), spent(run));
  fill(
    bars,
    budget?.window
      ? el(
          "div",
          null,
          el("h3", null, `The window of ${whole(budget.window)} tokens, zone by zone`),
          windowBar(run, budget),
          zones(run, budget),
        )
      : el(
          "p",
          { class: "bar-note" },
          "Nothing is known of the window: so many tokens for documents are more than this recipe's leaves.",
        ),
  );
}

function spent(run) {
  const left = run.tokens - run.token_count;
  const { excluded_chunks: out, excluded_tokens: lost } = run.metrics;
  return el(
    "p",
    { class: "bar-note" },
    `${whole(run.token_count)} tokens used, ${whole(left)} left.`,
    out > 0 && ` No room for ${many(out, "chunk")} (${whole(lost)} tokens).`,
  );
}

/** Blocks share the counted tokens by their characters; headers and separators are one remainder. */
function blocksBar(run, toBlock) {
  const total = Math.max(1, characters(run.text));
  const sizes = run.blocks.map(
    ({ span: [start, end] }) => (run.token_count * (end - start)) / total,
  );
  const frames = Math.max(0, run.token_count - sizes.reduce((sum, size) => sum + size, 0));
  return el(
    "div",
    { class: "bar blocks", role: "group", "aria-label": "Blocks by tokens" },
    run.blocks.map((block, index) => bit(block, index, sizes[index], toBlock)),
    el("span", {
      class: "frames",
      "--size": frames,
      title: `Headers and separators: about ${whole(frames)} tokens`,
    }),
    el("span", { "--size": Math.max(0, run.tokens - run.token_count) }),
  );
}

function bit(block, index, size, toBlock) {
  const partly = block.rendition !== "verbatim" && block.rendition !== "stripped";
  return el(
    "a",
    {
      href: `#assembled-${index}`,
      class: partly && "partly",
      "--size": size,
      title: `Block ${block.marker}, ${block.source}: about ${whole(size)} tokens`,
      "aria-label": `Block ${block.marker}, about ${whole(size)} tokens`,
      onclick: (event) => {
        event.preventDefault();
        toBlock(index, event.currentTarget);
      },
    },
    el("span", null, String(block.marker)),
  );
}

function windowBar(run, budget) {
  return el(
    "div",
    { class: "bar window", "aria-hidden": "true" },
    sizesOf(budget).map(([name, size]) =>
      el(
        "span",
        { class: `z-${name}`, "--size": size },
        name === "documents" && [
          el("span", { class: "used", "--size": run.token_count }),
          el("span", { "--size": Math.max(0, size - run.token_count) }),
        ],
      ),
    ),
  );
}

function zones(run, budget) {
  const share = (size) =>
    size < budget.window / 100 ? "under 1 %" : percent(size / budget.window);
  const said = (name, size) =>
    name === "documents" ? `${whole(run.token_count)} of ${whole(size)}` : whole(size);
  return el(
    "dl",
    { class: "zones" },
    sizesOf(budget).map(([name, size]) =>
      el(
        "div",
        null,
        el("dt", { class: `z-${name}` }, name),
        el("dd", null, `${said(name, size)} (${share(size)})`),
      ),
    ),
  );
}

/** The zones that have any tokens, and what of the window is nobody's. */
function sizesOf(budget) {
  const named = ZONES.map((name) => [name, budget[name] || 0]);
  const free = budget.window - named.reduce((sum, [, size]) => sum + size, 0);
  return [...named, ["free", free]].filter(([, size]) => size > 0);
}
