// Attention by position: a published reading curve, the blocks under it, and the same as a table.

import { drawChart } from "./chart.js";
import { height, placesOf } from "./curves.js";
import { el, fill } from "./dom.js";
import { goldRanges } from "./evidence.js";
import { figure, percent } from "./figures.js";
import { known } from "./known.js";
import { characters } from "./spans.js";

/** What shows it: `show(run, naive, gold)`, and `again()` after a change of theme. */
export function attention(host) {
  const choice = el("select", { id: "which-curve" });
  const chart = el("div", { class: "chart", role: "img" });
  const caption = el("figcaption");
  const tables = el("div");
  let lanes = [];
  let seen = false;

  const draw = () => {
    const curve = known.curves.find((one) => one.name === choice.value);
    if (!curve || !lanes.length) return;
    fill(caption, captionOf(curve));
    chart.setAttribute("aria-label", `${spoken(curve)} The table below has the figures.`);
    fill(
      tables,
      lanes.map((lane) => table(lane, curve)),
    );
    if (seen)
      drawChart(chart, curve, lanes).catch((error) =>
        fill(chart, el("p", { class: "nothing" }, error.message)),
      );
  };
  choice.addEventListener("change", draw);
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
      if (!choice.options.length) begin(host, choice, chart, caption, tables);
      lanes = [run, naive]
        .filter(Boolean)
        .map((one) => ({ name: one.manifest.recipe, places: places(one, gold) }));
      draw();
    },
    again: draw,
  };
}

function begin(host, choice, chart, caption, tables) {
  fill(
    choice,
    known.curves.map((curve) =>
      el(
        "option",
        { value: curve.name },
        curve.model ? `${curve.name}: ${curve.model}` : curve.name,
      ),
    ),
  );
  fill(
    host,
    el("label", { class: "field" }, el("span", null, "Published curve"), choice),
    el("figure", null, chart, caption),
    el("details", null, el("summary", null, "The same as a table"), tables),
  );
}

const places = (run, gold) =>
  placesOf(
    run,
    characters(run.text),
    (block) => gold.trim() !== "" && goldRanges(block.text, gold).length > 0,
  );

const captionOf = ({ source, model }) => [
  model ? `How often ${model} answered right when the passage stood there. ` : "",
  source,
  ". Below it, where each block of the two contexts stands; the stronger its colour, the better its score. Other models read otherwise.",
];

const spoken = ({ model, positions, accuracy }) =>
  `Right answers of ${model || "a model that reads all places alike"} by place: ${positions.map((position, index) => `${percent(position)}: ${accuracy[index]}`).join(", ")}.`;

function table({ name, places: rows }, curve) {
  const head = ["Block", "From", "To", "Score", "Read there", "Expected answer"];
  return el(
    "table",
    null,
    el("caption", null, name),
    el(
      "thead",
      null,
      el(
        "tr",
        null,
        head.map((one, index) => el("th", { scope: "col", class: index > 0 && "n" }, one)),
      ),
    ),
    el(
      "tbody",
      null,
      rows.map((one) =>
        el(
          "tr",
          null,
          el("th", { scope: "row" }, String(one.marker)),
          [
            percent(one.start),
            percent(one.end),
            figure(one.score),
            `${figure(Math.round(10 * height(curve, one.middle)) / 10)}\u00a0%`,
            one.gold ? "here" : "",
          ].map((cell) => el("td", { class: "n" }, cell)),
        ),
      ),
    ),
  );
}
