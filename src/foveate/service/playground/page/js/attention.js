// Attention by position: the published reading curve, the blocks under it, and the same as a table.

import { drawChart } from "./chart.js";
import { height, placesOf } from "./curves.js";
import { el, fill, table } from "./dom.js";
import { goldRanges } from "./evidence.js";
import { figure, percent } from "./figures.js";
import { known } from "./known.js";
import { characters } from "./spans.js";

const CAPTION =
  "How often gpt-3.5-turbo answered right when the passage stood there (Liu et al. 2023, Lost in the Middle, arXiv:2307.03172v3). Below it, where each block of the two contexts stands; the stronger its colour, the better its score. Other models read otherwise.";

/** What shows it: `show(run, naive, gold)`, and `again()` after a change of theme. */
export function attention(host) {
  const chart = el("div", { class: "chart", role: "img" });
  const tables = el("div");
  let lanes = [];
  let seen = false;

  const draw = () => {
    const { curve } = known;
    if (!lanes.length) return;
    chart.setAttribute("aria-label", `${spoken(curve)} The table below has the figures.`);
    fill(
      tables,
      lanes.map((lane) => figures(lane, curve)),
    );
    if (seen)
      drawChart(chart, curve, lanes).catch((error) =>
        fill(chart, el("p", { class: "nothing" }, error.message)),
      );
  };
  new IntersectionObserver(
    ([entry]) => {
      if (entry.isIntersecting && !seen) {
        seen = true;
        draw();
      }
    },
    { rootMargin: "400px" },
  ).observe(host);

  return {
    show(run, naive, gold) {
      if (!host.children.length) begin(host, chart, tables);
      lanes = [run, naive]
        .filter(Boolean)
        .map((one) => ({ name: one.manifest.recipe, places: places(one, gold) }));
      draw();
    },
    again: draw,
  };
}

function begin(host, chart, tables) {
  fill(
    host,
    el("figure", null, chart, el("figcaption", null, CAPTION)),
    el("details", null, el("summary", null, "The same as a table"), tables),
  );
}

const places = (run, gold) =>
  placesOf(
    run,
    characters(run.text),
    (block) => gold.trim() !== "" && goldRanges(block.text, gold).length > 0,
  );

const spoken = (curve) =>
  `Right answers of gpt-3.5-turbo by place: ${curve.map((value, index) => `${percent(index / (curve.length - 1))}: ${value}`).join(", ")}.`;

function figures({ name, places: rows }, curve) {
  const heads = ["Block", "From", "To", "Score", "Read there", "Expected answer"];
  return table(
    { caption: name, kind: "n" },
    heads,
    rows.map((one) => [
      String(one.marker),
      percent(one.start),
      percent(one.end),
      figure(one.score),
      `${figure(Math.round(10 * height(curve, one.middle)) / 10)}\u00a0%`,
      one.gold ? "here" : "",
    ]),
  );
}
