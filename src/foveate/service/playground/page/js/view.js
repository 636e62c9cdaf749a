// A run on the page: every part gets what it shows, and parts that point at one another are tied.

import { attention } from "./attention.js";
import { showBeside } from "./beside.js";
import { candidateList } from "./candidates.js";
import { byId, el, fill } from "./dom.js";
import { termsOf } from "./evidence.js";
import { showFlow } from "./flow.js";
import { jump, tidy } from "./jump.js";
import { keepingFocus } from "./keep-focus.js";
import { showPane } from "./pane.js";
import { blockOf, showSources } from "./sources.js";
import { showSummary } from "./summary.js";
import { showZones } from "./zones.js";

const list = candidateList(byId("filters"), byId("candidates"), toBlock);
const curve = attention(byId("curve"));
let now = null;

/** The run that is shown, or null. */
export const shown = () => now?.run || null;

/** What is shown: `{run, naive, gold}`, or null. */
export const view = () => now;

/** Show a run beside the naive one; `naive` is null where there is none to show. */
export function show(run, naive, gold) {
  now = { run, naive, gold };
  byId("welcome").hidden = true;
  byId("result").hidden = false;
  for (const id of ["html", "link"]) byId(id).disabled = false;
  for (const link of document.querySelectorAll(".parts a")) link.hidden = false;
  keepingFocus(() => {
    showSummary(byId("headline"), byId("badges"), run);
    showFlow(byId("flow"), byId("stage-detail"), run, seeStage);
    showZones({ used: byId("used"), bars: byId("bars") }, run, toBlock);
    lit();
  });
}

/** Draw again what depends on what is lit: the question's words, the expected answer. */
export function light(gold) {
  if (!now) return;
  now.gold = gold;
  keepingFocus(lit);
}

function lit() {
  const { run, naive, gold } = now;
  const look = { terms: termsOf(run.question), gold };
  fill(
    byId("legend"),
    el("span", null, el("mark", null, "a word of the question")),
    gold.trim() && el("span", null, el("mark", { class: "gold" }, "the expected answer")),
    naive && el("span", null, el("span", { class: "alone" }, "only in this context")),
  );
  showPane(byId("assembled"), "assembled", run.manifest.recipe, run, { ...look, other: naive?.text }, toCandidate);
  const beside = { ...look, other: run.text };
  if (naive) showPane(byId("naive"), "naive", "naive: by score, joined, cut", naive, beside, null);
  byId("naive").hidden = !naive;
  fill(byId("beside"));
  if (naive) showBeside(byId("beside"), run, naive, gold);
  showSources(byId("sources"), run, toBlock);
  list.show(run, look);
  curve.show(run, naive, gold);
  tidy();
}

/** After a change of theme: the chart has colours of its own. */
export const themed = () => curve.again();

/** To the block of a marker, in the assembled context. */
export const toMarker = (marker, from) =>
  toBlock(blockOf(marker, now.run.citations, now.run.blocks), from);

function toBlock(index, from) {
  jump(byId(`assembled-${index}`), from);
}

function toCandidate(id, from) {
  jump(list.row(id), from);
}

function seeStage(stage) {
  list.only(stage);
  jump(byId("pool"));
}
