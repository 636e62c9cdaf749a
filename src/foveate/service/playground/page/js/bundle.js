// Bundles: saved byte for byte as they were sent, and replayed from a file.

import { ask } from "./api.js";
import { download, el, fill } from "./dom.js";
import { whole } from "./figures.js";
import { showProblem } from "./problem-card.js";

/** The name of a file of this run. */
export const fileName = ({ manifest }, suffix) =>
  `foveate-${manifest.recipe}-${manifest.output_hash.slice(0, 8)}.${suffix}`;

/** Hand it to the person as a file. */
export const save = async (run) =>
  download(fileName(run, "json"), [await run.bundle(), "\n"], "application/json");

/** Make it again, and say what came out; `open(text)` shows it above, `current()` is the run there. */
export async function replay(file, host, { open, current }) {
  fill(host, el("p", { class: "quiet", role: "status" }, `Making ${file.name} again …`));
  const text = (await file.text()).replace(/^\ufeff/, "").trim();
  try {
    const bundle = parsed(text, file.name);
    const { value } = await ask("/v1/replay", `{"bundle":${text}}`);
    fill(
      host,
      said(value, file.name, bundle),
      actions(text, host, { open, current, name: file.name }),
    );
  } catch (error) {
    if (!error.said) throw error;
    showProblem(host, error);
  }
}

function parsed(text, name) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(`${name} is not JSON: ${error.message}`), {
      said: { title: "Not a bundle" },
    });
  }
}

function said(verdict, name, bundle) {
  if (verdict.identical) {
    const { recipe, token_count: tokens, output_hash: hash } = bundle.manifest;
    return el(
      "div",
      { class: "card good" },
      el("h3", null, "Identical"),
      el(
        "p",
        null,
        `${name} came out the same, byte for byte: ${recipe}, ${whole(tokens)} tokens, output `,
        el("span", { class: "id" }, hash),
        ".",
      ),
    );
  }
  return el(
    "div",
    { class: "card bad" },
    el("h3", null, `Diverged at ${verdict.stage || "the manifest"}`),
    verdict.first && el("p", null, el("code", null, verdict.first)),
    causes(verdict),
  );
}

const causes = (verdict) =>
  el(
    "ul",
    null,
    verdict.causes.map((cause) => el("li", null, el("code", null, cause))),
  );

/** Buttons for a run that is not the one above: show it there, or compare the two. */
export function actions(text, host, { open, current, name }) {
  const compare = async () => {
    const { value } = await ask("/v1/replay", `{"a":${text},"b":${await current().bundle()}}`);
    const title = value.identical
      ? `${name} and the run above are identical`
      : `${name} and the run above part at ${value.stage || "the manifest"}`;
    host.append(
      el(
        "div",
        { class: `card ${value.identical ? "good" : ""}` },
        el("h3", null, title),
        value.first && el("p", null, el("code", null, value.first)),
        causes(value),
      ),
    );
  };
  return el(
    "div",
    { class: "row" },
    el(
      "button",
      { type: "button", class: "small", onclick: () => open(text, name) },
      "Show this run above",
    ),
    current() &&
      el(
        "button",
        {
          type: "button",
          class: "small",
          onclick: (event) => {
            event.currentTarget.disabled = true;
            compare().catch((error) => showProblem(host, error));
          },
        },
        "Compare with the run above",
      ),
  );
}
