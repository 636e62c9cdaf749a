// The stages as a flow: a column each, `20 → 15`, what became of the chunks; one opens on demand.
// A column holds what stayed, what came in and what left; a band leads on to the next one.

import { button, el, fill } from "./dom.js";
import { figure, many } from "./figures.js";
import { inWords } from "./words.js";

const MOST = 6; // decisions shown of a stage; the list of candidates has them all

/** `seeAll(stage)`: show the candidates that this stage decided about. */
export function showFlow(list, detail, run, seeAll) {
  const highest = Math.max(1, ...run.trace.flatMap((stage) => [stage.before, stage.after]));
  const opened = detail.dataset.stage;
  fill(
    list,
    run.trace.map((stage, index) => el("li", null, column(stage, index, highest))),
  );
  const buttons = [...list.querySelectorAll("button")];
  const open = (index) => {
    buttons.forEach((button, at) => button.setAttribute("aria-expanded", String(at === index)));
    detail.hidden = index < 0;
    detail.dataset.stage = index < 0 ? "" : run.trace[index].stage;
    if (index >= 0) fill(detail, told(run.trace[index], seeAll));
  };
  buttons.forEach((button, index) =>
    button.addEventListener("click", () => {
      open(button.getAttribute("aria-expanded") === "true" ? -1 : index);
    }),
  );
  open(run.trace.findIndex((stage) => opened && stage.stage === opened));
}

function column(stage, index, highest) {
  const count = `${stage.before} → ${stage.after}`;
  return el(
    "button",
    { type: "button", "aria-expanded": "false", "aria-controls": "stage-detail" },
    bars(stage, highest),
    el("span", { class: "name" }, stage.stage),
    el(
      "span",
      { class: "count" },
      index === 0 ? `${stage.after}` : count,
      el("span", { class: "unseen" }, " chunks"),
    ),
    el("span", { class: "became" }, became(stage).join(", ")),
  );
}

/** What stayed, what left above it, what came in. */
function bars({ before, after, decisions }, highest) {
  const came = decisions.filter((one) => one.action === "entered").length;
  const left = Math.max(0, before + came - after);
  const bar = (kind, count) => count > 0 && el("i", { class: kind, "--size": count / highest });
  return el(
    "span",
    { class: "column", "aria-hidden": "true", "--after": after / highest },
    bar("stayed", after - came),
    bar("came", came),
    bar("left", left),
  );
}

/** `5 merged`: how many of each kind, without those that only stayed. */
export function became({ decisions }) {
  const counts = new Map();
  for (const { action, reason } of decisions) {
    if (action === "kept" || (action === "changed" && reason !== "stitched")) continue;
    counts.set(action, (counts.get(action) || 0) + 1);
  }
  return [...counts].sort().map(([action, count]) => `${count} ${action}`);
}

function told(stage, seeAll) {
  const notes = Object.entries(stage.notes).filter(([, value]) => value);
  const shown = stage.decisions.slice(0, MOST);
  return [
    el("h3", null, stage.stage, ` · ${stage.before} → ${many(stage.after, "chunk")}`),
    el("code", null, stage.options),
    notes.length > 0 &&
      el(
        "p",
        { class: "quiet" },
        notes.map(([name, value]) => `${name.replaceAll("_", " ")} ${figure(value)}`).join(" · "),
      ),
    el(
      "ul",
      null,
      shown.map((one) =>
        el(
          "li",
          null,
          el("span", { class: "id" }, one.chunk_id),
          el("span", null, `${one.action}: ${inWords(one)}`),
        ),
      ),
    ),
    shown.length === 0 && el("p", { class: "quiet" }, "Everything went through as it came."),
    shown.length > 0 &&
      el(
        "div",
        { class: "row" },
        button(
          "small",
          `See ${many(new Set(stage.decisions.map((one) => one.chunk_id)).size, "candidate")} of this stage`,
          () => seeAll(stage.stage),
        ),
      ),
  ];
}
