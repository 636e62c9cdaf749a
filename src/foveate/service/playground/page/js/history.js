// The last runs, to be shown again or compared with the one above. They outlive the tab if the person
// wants that: then their bundles are in the browser's storage, apart for each tenant and key.

import { actions } from "./bundle.js";
import { byId, el, fill } from "./dom.js";
import { whole } from "./figures.js";

const MOST = 8;
const ROOM = 1_500_000; // characters of all bundles together; browsers store some 5,000,000
const TEXTS = ["question", "recipe", "hash", "bundle"];
const COUNTS = ["token_count", "tokens"];

let runs = [];
let place = "";
let hooks = null;

/** Take up what an earlier tab kept for this caller (`/v1/me`); `open` and `current` as for `replay`.
 *  Without keys runs are kept unless the person declines, with a key only if the person agrees. */
export function startHistory({ tenant, key }, { open, current }) {
  hooks = { open, current };
  place = `${tenant}/${key ?? ""}`;
  const keep = byId("keep");
  keep.checked = (localStorage.getItem(`foveate-keep:${place}`) ?? (key ? "no" : "yes")) === "yes";
  keep.disabled = false;
  keep.onchange = () => {
    localStorage.setItem(`foveate-keep:${place}`, keep.checked ? "yes" : "no");
    store();
    draw();
  };
  runs = stored();
  draw();
}

/** Remember a run and list those before it. */
export async function remember(run) {
  const { question, manifest, token_count, tokens } = run;
  const { recipe, output_hash: hash } = manifest;
  const bundle = await run.bundle();
  runs = bounded([{ question, recipe, hash, token_count, tokens, bundle }, ...runs, ...stored()]);
  store();
  draw();
}

/** Forget what is over the bounds, and what is there twice; the first is always left. */
function bounded(all) {
  const seen = new Set();
  let room = ROOM;
  return all.filter((run, index) => {
    const name = JSON.stringify([run.question, run.recipe, run.hash]);
    if (seen.has(name) || seen.size === MOST) return false;
    room -= run.bundle.length;
    if (room < 0 && index > 0) return false;
    seen.add(name);
    return true;
  });
}

/** What is kept for this caller; other programs of this address may write there as well. */
function stored() {
  if (!byId("keep").checked) return [];
  try {
    return bounded(JSON.parse(localStorage.getItem(`foveate-runs:${place}`) ?? "[]").filter(isRun));
  } catch {
    return [];
  }
}

const isRun = (one) =>
  one !== null &&
  TEXTS.every((name) => typeof one[name] === "string") &&
  COUNTS.every((name) => typeof one[name] === "number");

/** Keep as many as the browser takes, or none. */
function store() {
  const name = `foveate-runs:${place}`;
  localStorage.removeItem(name);
  for (let most = byId("keep").checked ? runs.length : 0; most > 0; most -= 1) {
    try {
      localStorage.setItem(name, JSON.stringify(runs.slice(0, most)));
      return;
    } catch {
      // It is full: the oldest goes.
    }
  }
}

function draw() {
  const shown = hooks.current()?.manifest.output_hash;
  const earlier = runs.filter((one, index) => index > 0 || one.hash !== shown);
  byId("history").hidden = earlier.length === 0;
  fill(byId("history").querySelector("ol"), earlier.map(row));
}

function row(run) {
  const said = `${run.question}: ${run.recipe}, ${whole(run.token_count)} of ${whole(run.tokens)} tokens`;
  const host = el("div");
  return el(
    "li",
    null,
    el("p", null, said),
    actions(run.bundle, host, { ...hooks, name: said }),
    host,
  );
}
