// A run as a picture: the question, the figures, and the two contexts side by side.

import { evidence, termsOf } from "./evidence.js";
import { many, whole } from "./figures.js";
import { goldSaid } from "./pane.js";

const WIDTH = 1600; // pixels
const MARGIN = 40;
const GAP = 40;
const LINE = 23;
const MOST = 60; // lines of a context; the rest is counted

/** A blob of a PNG. `shown` as for the HTML file. */
export function imageOf({ run, naive, gold }) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const letters = getComputedStyle(document.body).fontFamily;
  const plain = `15px ${letters}`;
  const columns = [run, naive].filter(Boolean);
  const width = (WIDTH - 2 * MARGIN - GAP * (columns.length - 1)) / columns.length;
  pen.font = plain;
  const contexts = columns.map((one) => ({ one, lines: folded(pen, one.text, width) }));
  const longest = Math.max(...contexts.map(({ lines }) => Math.min(lines.length, MOST + 1)));
  const top = 150;
  canvas.width = WIDTH;
  canvas.height = top + longest * LINE + MARGIN;
  const colours = coloursOf();
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.textBaseline = "top";
  write(pen, run.question, MARGIN, 32, { font: `600 26px ${letters}`, colour: colours.ink });
  const look = { terms: termsOf(run.question), gold };
  contexts.forEach(({ one, lines }, index) => {
    const left = MARGIN + index * (width + GAP);
    const title = `${one.manifest.recipe}: ${figures(one, gold)}`;
    write(pen, title, left, 92, { font: `600 17px ${letters}`, colour: colours.ink, width });
    pen.font = plain;
    const ranges = evidence(one.text, look.terms, look.gold);
    lines.slice(0, MOST).forEach((line, at) => {
      drawLine(pen, line, { left, top: top + at * LINE, ranges, colours });
    });
    if (lines.length > MOST)
      write(pen, `… and ${many(lines.length - MOST, "line")} more`, left, top + MOST * LINE, {
        font: plain,
        colour: colours.quiet,
      });
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function figures(one, gold) {
  const said = `${whole(one.token_count)} of ${whole(one.tokens)} tokens`;
  return gold.trim() ? `${said}, expected answer ${goldSaid(one, gold)}` : said;
}

function write(pen, text, left, top, { font, colour, width = WIDTH - 2 * MARGIN }) {
  pen.font = font;
  pen.fillStyle = colour;
  pen.fillText(text, left, top, width);
}

/** Lines that fit this many pixels, with where they begin: `{text, start}`. */
function folded(pen, text, width) {
  const lines = [];
  let start = 0;
  for (const paragraph of text.split("\n")) {
    let rest = paragraph;
    do {
      const size = fitting(pen, rest, width);
      lines.push({ text: rest.slice(0, size), start });
      start += size;
      rest = rest.slice(size);
    } while (rest && lines.length <= 20 * MOST);
    start += 1 + rest.length;
  }
  return lines;
}

/** How many code units of a text fit, ended behind a space if there is one. */
function fitting(pen, text, width) {
  if (pen.measureText(text.slice(0, 400)).width <= width && text.length <= 400) return text.length;
  let [low, high] = [1, Math.min(text.length, 400)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (pen.measureText(text.slice(0, middle)).width <= width) low = middle;
    else high = middle - 1;
  }
  const space = text.lastIndexOf(" ", low - 1);
  if (space > 0) return space + 1;
  return /[\ud800-\udbff]/.test(text[low - 1]) && low > 1 ? low - 1 : low;
}

function drawLine(pen, { text, start }, { left, top, ranges, colours }) {
  const end = start + text.length;
  for (const range of ranges) {
    if (range.end <= start || range.start >= end) continue;
    const from = Math.max(range.start, start) - start;
    const to = Math.min(range.end, end) - start;
    const before = pen.measureText(text.slice(0, from)).width;
    pen.fillStyle = range.gold ? colours.gold : colours.term;
    pen.fillRect(left + before, top - 3, pen.measureText(text.slice(from, to)).width, LINE - 2);
  }
  pen.fillStyle = colours.ink;
  pen.fillText(text, left, top);
}

/** The colours of the theme, as the browser works them out. */
function coloursOf() {
  const probe = document.body.appendChild(document.createElement("mark"));
  const term = getComputedStyle(probe).backgroundColor;
  probe.className = "gold";
  const gold = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const { color: ink, backgroundColor: paper } = getComputedStyle(document.body);
  return { ink, paper, term, gold, quiet: ink };
}
