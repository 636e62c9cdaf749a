// The curve, and below it where the blocks of both contexts stand. The chart library reads texts as
// markup, links included, so a text that is not ours goes through `asText`.

import { plotly } from "./plotly.js";

const LONGEST = 40; // characters of a recipe's name beside the chart

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A colour of the tokens as the page shows it now. */
function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Draw into `host`; `lanes`: `[{name, places}]`, the first one on top. */
export async function drawChart(host, curve, lanes) {
  const library = await plotly();
  const ink = colour("--ink-2");
  const accent = colour("--accent");
  const line = {
    x: curve.map((_, index) => (100 * index) / (curve.length - 1)),
    y: curve,
    mode: "lines+markers",
    name: "right answers",
    line: { color: accent, width: 2.5, shape: "linear" },
    marker: { size: 7, color: accent },
    hovertemplate: "at %{x:.0f} %: %{y:.1f} % right<extra></extra>",
  };
  const bars = lanes.map(({ places }, index) =>
    lane(places, lanes.length - index - 1, index === 0 ? accent : ink),
  );
  await library.react(host, [line, ...bars], layout(curve, lanes, ink), {
    displayModeBar: false,
    responsive: true,
    scrollZoom: false,
  });
}

/** A text as the library shows it letter for letter, cut where it is long. */
function asText(value) {
  const letters = [...String(value)];
  const cut = letters.length > LONGEST ? [...letters.slice(0, LONGEST - 1), "…"] : letters;
  return cut.join("").replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

const parts = (text) => text.match(/[\d.]+/g).map(Number);

/** Two colours as one, `share` of the first. */
function mixed(one, other, share) {
  const [first, second] = [parts(one), parts(other)];
  return `rgb(${[0, 1, 2].map((i) => Math.round(first[i] * share + second[i] * (1 - share))).join(",")})`;
}

/** Relative luminance, as WCAG 2 counts contrast by it. */
function luminance(text) {
  const linear = (part) => (part > 10 ? ((part / 255 + 0.055) / 1.055) ** 2.4 : part / 3295);
  const [red, green, blue] = parts(text).map(linear);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The one of two colours that is read better on the ground. */
function legible(ground, one, other) {
  const contrast = (text) => {
    const [low, high] = [luminance(text), luminance(ground)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  return contrast(one) > contrast(other) ? one : other;
}

const fill = (shade, weight) => mixed(shade, colour("--surface"), 0.3 + 0.6 * weight);

/** A row of bars, stronger where the score is higher; a green edge where the expected answer is. */
const lane = (places, level, shade) => ({
  type: "bar",
  orientation: "h",
  yaxis: "y2",
  showlegend: false,
  base: places.map(({ start }) => 100 * start),
  x: places.map(({ start, end }) => 100 * (end - start)),
  y: places.map(() => level),
  width: 0.72,
  marker: {
    color: places.map(({ weight }) => fill(shade, weight)),
    line: { width: places.map(({ gold }) => (gold ? 3 : 0)), color: colour("--gold-edge") },
  },
  text: places.map(({ marker }) => asText(marker)),
  textposition: "inside",
  insidetextanchor: "middle",
  textangle: 0,
  insidetextfont: {
    color: places.map(({ weight }) =>
      legible(fill(shade, weight), colour("--surface"), colour("--ink")),
    ),
  },
  customdata: places.map(({ marker, score }) => [asText(marker), score]),
  hovertemplate: "block %{customdata[0]}, score %{customdata[1]:.3f}<extra></extra>",
});

function layout(curve, lanes, ink) {
  const low = Math.min(...curve);
  const high = Math.max(...curve);
  const room = Math.max(4, (high - low) * 0.15);
  const grid = colour("--line");
  const axis = {
    gridcolor: grid,
    linecolor: grid,
    zeroline: false,
    fixedrange: true,
    automargin: true,
  };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    barmode: "overlay",
    dragmode: false,
    font: { family: style("--letters"), size: 12, color: ink },
    margin: { l: 8, r: 12, t: 8, b: 8 },
    xaxis: {
      ...axis,
      range: [-1, 101],
      ticksuffix: " %",
      title: { text: "place in the context" },
      anchor: "y2",
    },
    yaxis: {
      ...axis,
      domain: [0.38, 1],
      range: [low - room, high + room],
      ticksuffix: " %",
      title: { text: "right answers" },
    },
    yaxis2: {
      ...axis,
      domain: [0, 0.3],
      range: [-0.6, lanes.length - 0.4],
      showgrid: false,
      tickvals: lanes.map((_, index) => lanes.length - index - 1),
      ticktext: lanes.map(({ name }) => asText(name)),
    },
    hoverlabel: {
      bgcolor: colour("--surface"),
      bordercolor: colour("--edge"),
      font: { color: colour("--ink") },
    },
  };
}
