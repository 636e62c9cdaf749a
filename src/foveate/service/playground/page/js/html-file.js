// A run as one HTML file: contexts, sources, answers, stages and candidates. It needs no service and
// no network, holds no script, and its own policy allows none.

import { showBeside } from "./beside.js";
import { candidateRow } from "./candidates.js";
import { byId, el, table } from "./dom.js";
import { termsOf } from "./evidence.js";
import { fates } from "./fates.js";
import { many } from "./figures.js";
import { became } from "./flow.js";
import { showPane } from "./pane.js";
import { showSources } from "./sources.js";
import { showSummary } from "./summary.js";

const MOST = 300; // candidates with their texts; the rest is counted
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";
// What works by a script alone, and what only the page's own parts refer to.
const LEFT_OUT = new Set(["button", "form", "input", "script", "select", "svg", "textarea"]);
const KEPT = new Set([
  ...["charset", "class", "content", "data-theme", "http-equiv", "id", "lang", "name"],
  ...["open", "role", "scope", "style", "tabindex", "title"],
]);

/** The name of a file of this run. */
export const fileName = ({ manifest }) =>
  `foveate-${manifest.recipe}-${manifest.output_hash.slice(0, 8)}.html`;

/** The text of the file. `shown`: `{run, naive, gold}`; `naive` may be null. */
export function htmlOf({ run, naive, gold }) {
  const head = el(
    "head",
    null,
    el("meta", { charset: "utf-8" }),
    el("meta", { "http-equiv": "Content-Security-Policy", content: POLICY }),
    el("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    el("meta", { name: "color-scheme", content: "light dark" }),
    el("title", null, `${run.question} · foveate`),
    el("style", null, styles()),
  );
  const theme = document.documentElement.dataset.theme;
  const whole = el("html", { lang: "en", "data-theme": theme }, head, body(run, naive, gold));
  return `<!doctype html>\n${markup(whole)}\n`;
}

function body(run, naive, gold) {
  const look = { terms: termsOf(run.question), gold };
  const part = (title, ...children) => el("section", null, el("h2", null, title), ...children);
  const contexts = part(
    "Context",
    gold.trim() && el("p", { class: "legend" }, "Expected answer: ", el("b", null, gold)),
    el(
      "div",
      { class: "panes" },
      pane("assembled", run.manifest.recipe, run, { ...look, other: naive?.text }),
      naive && pane("naive", "naive: by score, joined, cut", naive, { ...look, other: run.text }),
    ),
    el(
      "div",
      { class: "under" },
      drawn("div", null, (host) => showSources(host, run, null)),
      naive && drawn("div", null, (host) => showBeside(host, run, naive, gold)),
    ),
  );
  const origin = el(
    "section",
    { class: "quiet" },
    "Saved from the foveate playground. Output ",
    el("span", { class: "id" }, run.manifest.output_hash),
  );
  const parts = [
    summary(run),
    contexts,
    answers(run, naive, part),
    part("Stages", stages(run)),
    part("Candidates", candidates(run, look)),
    origin,
  ];
  const main = el("main", null, el("h1", null, run.question), el("div", { id: "result" }, parts));
  return el("body", null, main);
}

function summary(run) {
  const headline = el("p", { class: "headline" });
  const badges = el("ul", { class: "badges" });
  showSummary(headline, badges, run);
  return el("section", { class: "summary" }, headline, badges);
}

/** An element that `draw` fills, as it fills the page's own. */
function drawn(name, attributes, draw) {
  const host = el(name, attributes);
  draw(host);
  return host;
}

const pane = (name, title, run, look) =>
  drawn("article", { class: "pane" }, (host) => showPane(host, name, title, run, look, null));

/** The answers on the page, as far as they were given from these two contexts. */
function answers(run, naive, part) {
  const given = [
    ["", run],
    ["joined-", naive],
  ].filter(([prefix, one]) => one && byId(`${prefix}answer`).dataset.from === one.manifest.output_hash);
  if (given.length === 0) return null;
  const shown = given.map(([prefix]) => {
    const copies = ["answer", "checked"].map((name) => byId(prefix + name).cloneNode(true));
    // The list of sources in the file is that of the assembled context.
    if (prefix) for (const one of copies[0].querySelectorAll("a")) one.removeAttribute("href");
    return el("div", null, copies);
  });
  return part("Answer", el("div", { class: "panes" }, shown));
}

const stages = ({ trace }) =>
  table(
    {},
    ["Stage", "Chunks", "What it did", "Options"],
    trace.map((stage) => [
      stage.stage,
      `${stage.before}\u00a0→\u00a0${stage.after}`,
      became(stage).join(", "),
      el("code", null, stage.options),
    ]),
  );

function candidates(run, look) {
  const all = fates(run);
  const rows = all.slice(0, MOST).map((fate) => candidateRow(fate, all, look));
  return [
    el("ol", { class: "candidates" }, rows),
    all.length > MOST && el("p", null, `${many(all.length - MOST, "candidate")} more`),
  ];
}

/** Every rule of the page's sheets, but for pictures, which the file does not bring. */
function styles() {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  return rules.map((rule) => rule.cssText.replace(/url\([^)]*\)/g, "none")).join("\n");
}

const NAMES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => NAMES[letter]);

/** A node as HTML. Elements that need a script and attributes that are not known are left out. */
function markup(node) {
  if (node.nodeType === Node.TEXT_NODE) return escaped(node.data);
  if (node.hidden || LEFT_OUT.has(node.localName)) return "";
  const attributes = [...node.attributes].filter(
    ({ name, value }) =>
      KEPT.has(name) || name.startsWith("aria-") || (name === "href" && value.startsWith("#")),
  );
  const written = attributes.map(({ name, value }) => ` ${name}="${escaped(value)}"`).join("");
  if (node.localName === "meta") return `<meta${written}>`;
  if (node.localName === "style") return `<${node.localName}>${node.textContent}</style>`;
  const inner = [...node.childNodes].map(markup).join("");
  // A reader of HTML takes away the first line feed of a `pre`.
  const first = node.localName === "pre" && inner.startsWith("\n") ? "\n" : "";
  return `<${node.localName}${written}>${first}${inner}</${node.localName}>`;
}
