// What is wrong with an answer's citations, claim by claim.

import { button, el, fill } from "./dom.js";
import { many, percent } from "./figures.js";

export function showChecked(host, checked, jumpTo) {
  const doubtful = checked.claims.filter((claim) => claim.faults.length > 0);
  const clean = checked.clean && doubtful.length === 0;
  fill(
    host,
    el(
      "div",
      { class: `card ${clean ? "good" : "bad"}` },
      el(
        "h3",
        null,
        clean
          ? "Every claim is supported by what it cites"
          : `${many(doubtful.length || checked.dangling.length, "claim")} to look at`,
      ),
      el("p", { class: "quiet" }, support(checked)),
      checked.dangling.length > 0 &&
        el(
          "ul",
          null,
          checked.dangling.map((one) => el("li", null, `${one.text} names nothing: ${one.reason}`)),
        ),
    ),
    el(
      "ol",
      { class: "claims" },
      checked.claims.map((claim) => told(claim, jumpTo)),
    ),
  );
}

function support({ support: score, cited, unused }) {
  const said = [
    typeof score === "number" && `${percent(score)} of the words supported on average`,
    `cites ${cited.length ? cited.join(", ") : "nothing"}`,
    unused.length > 0 && `does not use ${unused.join(", ")}`,
  ];
  return said.filter(Boolean).join(" · ");
}

function told(claim, jumpTo) {
  const { support: best, elsewhere } = claim;
  return el(
    "li",
    null,
    el("p", null, claim.text),
    el(
      "p",
      { class: "faults" },
      claim.faults.length
        ? claim.faults.map((fault) =>
            el("span", { class: "chip budget" }, fault.replaceAll("_", " ")),
          )
        : el("span", { class: "chip shown" }, "supported"),
    ),
    best && passage("best support", best, jumpTo),
    elsewhere && passage("said elsewhere", elsewhere, jumpTo),
    claim.figures.length > 0 &&
      el("p", { class: "support" }, `figures that are not in the cited sources: ${claim.figures.join(", ")}`),
    claim.quotations.length > 0 &&
      el(
        "p",
        { class: "support" },
        claim.quotations
          .map((one) => `“${one.text}”: ${one.verdict.replaceAll("_", " ")}`)
          .join(" · "),
      ),
  );
}

const passage = (name, { marker, score, text }, jumpTo) =>
  el(
    "p",
    { class: "support" },
    `${name}, ${percent(score)}: `,
    button("link", `block ${marker}`, (from) => jumpTo(marker, from)),
    ` “${text.trim()}”`,
  );
