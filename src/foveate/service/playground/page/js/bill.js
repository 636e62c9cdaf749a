// The bill of an agent's request: the figures of `foveate bill`, from the same function.

import { ask } from "./api.js";
import { byId, el, fill } from "./dom.js";
import { many, whole } from "./figures.js";
import { showProblem } from "./problem-card.js";
import { fromFile, quickPaste } from "./take-in.js";

const FIELDS = ["request", "before"];
const SHOWN = 8; // rows of a table, as on the command line
const COLOURS = {
  tools: "z-buffer",
  system: "z-system",
  user: "z-query",
  assistant: "z-conversation",
  calls: "z-generation",
  results: "z-documents",
  other: "z-other",
};

const rounded = new Intl.NumberFormat("en-US", {
  maximumFractionDigits: 0,
  roundingMode: "halfEven",
});

/** Rounded as the command line does. */
const percent = (share) => `${rounded.format(100 * share)}\u00a0%`;

/** Pasted or from files: a request, and the one before it, which may be missing. */
export function startBill() {
  for (const name of FIELDS) {
    quickPaste(byId(`bill-${name}`));
    fromFile(byId(`bill-${name}-file`), byId(`bill-${name}`));
  }
  byId("bill-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const host = byId("billed");
    try {
      const { value } = await ask("/v1/bill", body());
      fill(host, billed(value, byId("bill-before").value.trim() !== ""));
    } catch (error) {
      if (!error.said) throw error;
      showProblem(host, error);
    }
  });
}

/** The texts as they are spelled: a number of many digits is the same number for the service. */
function body() {
  const given = FIELDS.map((name) => [name, byId(`bill-${name}`).value.trim()]);
  const members = given.filter(([name, text]) => text || name === "request").map(member);
  return `{${members.join(",")}}`;
}

function member([name, text]) {
  try {
    JSON.parse(text);
  } catch (error) {
    const label = name === "request" ? "The request" : "The request before it";
    throw Object.assign(new Error(`${label} is not JSON: ${error.message}`), {
      said: { title: "Not JSON" },
    });
  }
  return `"${name}":${text}`;
}

function billed(bill, compared) {
  const { total } = bill;
  const messages = bill.by_message.map((tokens, n) => [messageSaid(bill, n + 1), tokens]);
  const turns = bill.by_turn.map((turn, n) => [turnSaid(turn, n), turn.tokens]);
  return [
    el(
      "p",
      { class: "headline nums", role: "status" },
      el("b", null, `${whole(total)} tokens`),
      ` in ${many(bill.by_message.length, "message")}`,
    ),
    zones(bill),
    compared && prefix(bill.prefix),
    el(
      "div",
      { class: "under" },
      el(
        "div",
        null,
        table("By tool", "calls and results", Object.entries(bill.by_tool), total),
        table("Largest turns", "from a question to the next", largest(turns), total),
        table("Repeated", "what the copies cost", bill.repeats.map(named), total),
      ),
      el(
        "div",
        null,
        table("By source", "what a call brought", bill.by_source.map(named), total),
        table("Largest messages", "", largest(messages), total),
      ),
    ),
  ];
}

function zones({ by_zone: sizes, total }) {
  const known = Object.entries(sizes).filter(([, tokens]) => tokens > 0);
  return [
    el(
      "div",
      { class: "bar zoned", "aria-hidden": "true" },
      known.map(([zone, tokens]) => el("span", { class: COLOURS[zone], "--size": tokens })),
    ),
    el(
      "dl",
      { class: "zones" },
      known.map(([zone, tokens]) =>
        el(
          "div",
          null,
          el("dt", { class: COLOURS[zone] }, zone),
          el("dd", null, `${whole(tokens)} (${percent(tokens / Math.max(total, 1))})`),
        ),
      ),
    ),
  ];
}

function prefix(broken) {
  if (!broken)
    return el(
      "div",
      { class: "card good" },
      el("h3", null, "The prefix is whole"),
      el("p", null, "The request goes on where the one before it ended."),
    );
  const place = broken.message ? `at message ${broken.message}` : "before the messages";
  return el(
    "div",
    { class: "card bad" },
    el("h3", null, `Prefix broken ${place}: ${broken.why}`),
    el(
      "p",
      { class: "nums" },
      `${whole(broken.reused)} tokens are cached, ${whole(broken.resent)} are sent again.`,
    ),
  );
}

function table(title, about, rows, total) {
  if (rows.length === 0) return null;
  const id = `bill-${title.toLowerCase().replace(" ", "-")}`;
  const more = rows.length - SHOWN;
  return el(
    "div",
    { class: "counted" },
    el("h3", { id }, title, about && el("small", null, ` ${about}`)),
    el(
      "table",
      { "aria-labelledby": id },
      el(
        "thead",
        { class: "unseen" },
        el(
          "tr",
          null,
          ["What", "Tokens", "Share"].map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      el(
        "tbody",
        null,
        rows.slice(0, SHOWN).map(([said, tokens]) =>
          el(
            "tr",
            null,
            el("th", { scope: "row" }, said),
            el("td", { class: "n" }, whole(tokens)),
            el("td", { class: "n" }, percent(tokens / Math.max(total, 1))),
          ),
        ),
      ),
    ),
    more > 0 && el("p", { class: "bar-note" }, `and ${whole(more)} more`),
  );
}

const largest = (rows) => rows.filter(([, tokens]) => tokens > 0).sort((a, b) => b[1] - a[1]);

const named = (part) => [placed(part), part.tokens];

function turnSaid(turn, n) {
  return n === 0 ? "before the first turn" : [`Turn ${n}: `, placed(turn)].flat();
}

/** What a message is of: the call that brought it, or the question that it asks. */
function messageSaid({ by_source: sources, by_turn: turns }, place) {
  const brought = sources.find((source) => source.places.includes(place));
  const asked = turns.find((turn) => turn.places[0] === place);
  return placed({ places: [place], begins: (brought ?? asked)?.begins ?? "" });
}

/** How a part begins, and which messages it is: runs of places as `4-9`. */
function placed({ places, begins }) {
  const runs = [];
  for (const place of places) {
    const last = runs.at(-1);
    if (last && place === last.at(-1) + 1) last[1] = place;
    else runs.push([place]);
  }
  const where = runs.map((ends) => ends.join("-")).join(", ");
  return [
    el("span", { class: "begins" }, begins),
    el("small", null, `${places.length === 1 ? "message" : "messages"} ${where}`),
  ];
}
