// Every candidate with its fate and why; filtered by fate, or by the stage that decided.

import { button, el, fill } from "./dom.js";
import { KINDS, fates } from "./fates.js";
import { figure, many, whole } from "./figures.js";
import { evidence } from "./evidence.js";
import { marked } from "./marked.js";
import { inWords, whatIf, why } from "./words.js";

const STEP = 30; // rows at once: ten thousand candidates may come

/** What shows the list and keeps its filter: `show(run, look)`, `only(stage)`, `row(id)`. */
export function candidateList(filters, list, toBlock) {
  let all = [];
  let look = { terms: new Set(), gold: "" };
  let wanted = { kind: "", stage: "" };
  let most = STEP;
  const opened = new Set();

  const fitting = () =>
    all.filter(
      (fate) =>
        (!wanted.kind || fate.kind === wanted.kind) &&
        (!wanted.stage || fate.path.some((step) => step.stage === wanted.stage)),
    );

  const draw = () => {
    const rows = fitting();
    const best = scaleOf(all);
    drawFilters(filters, all, wanted, (next) => {
      wanted = next;
      most = STEP;
      draw();
    });
    fill(
      list,
      rows.slice(0, most).map((fate) => row(fate, { look, toBlock, opened, go, best })),
    );
    if (rows.length > most)
      list.append(
        el(
          "li",
          { class: "row" },
          button(null, `Show more of ${many(rows.length, "candidate")}`, () => {
            most += STEP;
            draw();
          }),
        ),
      );
    if (rows.length === 0)
      list.append(el("li", { class: "nothing" }, "No candidate of that kind."));
  };

  const find = (id) =>
    [...list.children].find((item) => item.dataset.id === id)?.querySelector("summary");
  const go = (id) => {
    if (!find(id)) {
      wanted = { kind: "", stage: "" };
      most = Math.max(STEP, all.findIndex((fate) => fate.id === id) + 1);
      draw();
    }
    return find(id);
  };

  return {
    show(run, looked) {
      all = fates(run);
      look = looked;
      if (wanted.stage && !run.trace.some((stage) => stage.stage === wanted.stage))
        wanted = { ...wanted, stage: "" };
      draw();
    },
    only(stage) {
      wanted = { kind: "", stage };
      most = STEP;
      draw();
    },
    row: go,
  };
}

function drawFilters(host, all, wanted, choose) {
  const focused = host.contains(document.activeElement)
    ? document.activeElement.dataset.kind
    : null;
  const choice = (kind, label, count) =>
    el(
      "button",
      {
        type: "button",
        "data-kind": kind,
        "aria-pressed": String(wanted.kind === kind && !wanted.stage),
        onclick: () => choose({ kind, stage: "" }),
      },
      label,
      " ",
      el("span", { class: "n" }, whole(count)),
    );
  const kinds = Object.entries(KINDS).map(([kind, label]) => [
    kind,
    label,
    all.filter((fate) => fate.kind === kind).length,
  ]);
  fill(
    host,
    choice("", "all", all.length),
    kinds
      .filter(([kind, , count]) => count > 0 || wanted.kind === kind)
      .map((one) => choice(...one)),
    wanted.stage &&
      el(
        "button",
        { type: "button", "aria-pressed": "true", onclick: () => choose({ kind: "", stage: "" }) },
        `decided by ${wanted.stage} `,
        el("span", { "aria-hidden": "true" }, "×"),
        el("span", { class: "unseen" }, "show all again"),
      ),
  );
  if (focused !== null) host.querySelector(`[data-kind="${focused}"]`)?.focus();
}

/** One row by itself, its details folded and all there; `all`: the fates of the run. */
export function candidateRow(fate, all, look) {
  const item = row(fate, { look, opened: new Set([fate.id]), best: scaleOf(all) });
  item.firstChild.open = false;
  return item;
}

function scaleOf(all) {
  const scores = all.map(({ score }) => score).filter((score) => score !== null);
  return { most: Math.max(0, ...scores), least: Math.min(0, ...scores) };
}

function row(fate, { look, toBlock, opened, go, best }) {
  const details = el("details", { open: opened.has(fate.id) }, summary(fate, best));
  const unfold = () => {
    if (details.open && details.childElementCount === 1)
      details.append(more(fate, look, toBlock, go));
  };
  details.addEventListener("toggle", () => {
    if (details.open) opened.add(fate.id);
    else opened.delete(fate.id);
    unfold();
  });
  unfold();
  return el("li", { "data-id": fate.id }, details);
}

const raw = ({ score }) => (score === null ? "" : `score ${figure(score)}`);

/** The score where the best is 100; scores below zero have no such scale and stay as they are. */
function scaled({ score }, { most, least }) {
  if (score === null) return "";
  return most > 0 && least >= 0 ? String(Math.round((100 * score) / most)) : figure(score);
}

function summary(fate, best) {
  const last = fate.kind === "joined" ? null : fate.last;
  return el(
    "summary",
    null,
    el(
      "span",
      { class: "rank", title: fate.rank ? "" : "not found, but let in by a stage" },
      fate.rank ? String(fate.rank) : "+",
    ),
    el("span", { class: "fate" }, el("span", { class: `chip ${fate.kind}` }, fate.label)),
    el(
      "span",
      { class: "where" },
      fate.candidate?.source || fate.id,
      el("small", null, fate.candidate?.section || fate.candidate?.title || fate.id),
    ),
    el(
      "span",
      { class: "why" },
      reason(fate, last),
      last && whatIf(last).map((words) => [" ", el("span", { class: "chip whatif" }, words)]),
    ),
    el("span", { class: "score", title: raw(fate) }, scaled(fate, best)),
  );
}

/** In one line; of what was joined, what became of the passage. */
function reason(fate, last) {
  if (fate.kind === "joined") return `part of the passage in block ${fate.at.marker}`;
  if (!last) return fate.kind === "shown" ? "went through all stages as it came" : "";
  if (fate.into && fate.kind !== "twin")
    return fate.root.inside
      ? `joined to ${fate.into}, whose shown part leaves it out`
      : `joined to ${fate.into}: ${inWords(fate.root.last)}`;
  return why(last);
}

function more(fate, look, toBlock, go) {
  const { candidate } = fate;
  const text = candidate?.text || "";
  return el(
    "div",
    { class: "more" },
    el(
      "p",
      { class: "facts" },
      facts(fate).map((one) => el("span", null, one)),
    ),
    fate.at &&
      el(
        "p",
        null,
        button("link", `Go to it in the context, block ${fate.at.marker}`, (from) =>
          toBlock(fate.at.index, from),
        ),
      ),
    fate.last?.by &&
      el(
        "p",
        null,
        button("link", `Go to ${fate.last.by}`, (from) => go(fate.last.by, from)),
      ),
    fate.path.length > 0 &&
      el(
        "ol",
        { class: "path", "aria-label": "Stage by stage" },
        fate.path.map(({ stage, decision }) =>
          el(
            "li",
            null,
            el("span", { class: "stage" }, stage),
            el("span", null, `${decision.action}: ${inWords(decision)}`),
          ),
        ),
      ),
    text &&
      el(
        "pre",
        { class: "text", tabindex: "0", role: "group", "aria-label": `Text of ${fate.id}` },
        marked(text, evidence(text, look.terms, look.gold)),
      ),
  );
}

function facts({ id, candidate }) {
  const scores = [
    ["by meaning", "semantic_score"],
    ["by words", "lexical_score"],
    ["reranked", "rerank_score"],
    ["score", "score"],
  ];
  const known = scores
    .filter(([, name]) => typeof candidate?.[name] === "number")
    .map(([label, name]) => `${label} ${figure(candidate[name])}`);
  const places = ["page", "row", "line"]
    .filter((name) => candidate?.[name] !== undefined)
    .map((name) => `${name} ${candidate[name]}`);
  return [`id ${id}`, ...known, ...places, candidate?.title && `title ${candidate.title}`].filter(
    Boolean,
  );
}
