// Starts the page, and runs what is asked: assemble, beside it the naive one, then the answer.

import { fromAddress, toAddress } from "./address.js";
import { answered } from "./answering.js";
import { Problem, ask } from "./api.js";
import { showChecked } from "./checked.js";
import { controls, fillSample, offer, set, wish } from "./controls.js";
import { byId, copied, download, fill } from "./dom.js";
import { many, whole } from "./figures.js";
import { fileName, htmlOf } from "./html-file.js";
import { back, jump } from "./jump.js";
import { askForKey } from "./keyform.js";
import { known, learn } from "./known.js";
import { latest } from "./latest.js";
import { clearProblem, showProblem } from "./problem-card.js";
import { assembled, body, joined } from "./run.js";
import { showShelf } from "./shelf.js";
import { themeSwitch } from "./theme-switch.js";
import { light, show, shown, themed, toMarker, view } from "./view.js";

const APART = 100; // milliseconds between two beginnings while the slider moves
const REST = 500; // milliseconds until what the slider shows counts as asked for
const run = latest(assemble);
let resting = 0; // the timer of that
let asked = false; // until something was asked, moving a control asks nothing

themeSwitch(byId("theme"), themed);
controls({
  changed: () => {
    if (asked) run(APART);
  },
  looked: () => light(byId("gold").value),
});
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
byId("tokens").addEventListener("keydown", (event) => {
  if (event.key === "Enter") submit();
});
byId("upload").addEventListener("change", uploaded);
byId("html").addEventListener("click", () =>
  download(fileName(shown()), [htmlOf(view())], "text/html"),
);
byId("link").addEventListener("click", (event) => copied(event.currentTarget, location.href));
byId("check").addEventListener("submit", checkOwn);
document.querySelector(".parts").addEventListener("click", toPart);
byId("back").addEventListener("click", back);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") back();
});
begin();

/** Learn what there is; where a key is needed, ask for it and begin again. */
async function begin() {
  await learn();
  try {
    const me = await ask("/v1/me"); // alone: without a key that counts it is the only one refused
    const recipes = await ask("/v1/recipes");
    const before = fromAddress();
    await offer(
      {
        recipes: recipes.value.recipes,
        models: me.value.models,
        store: me.value.store,
        recipe: me.value.recipe,
      },
      before,
    );
    fill(byId("service"), serviceSaid(me.value));
    byId("adding").hidden = !(me.value.store && me.value.scopes.includes("write"));
    showShelf(byId("shelf"), () => {
      fillSample();
      submit();
    });
    if (asked || before.q) submit();
  } catch (error) {
    failed(error, begin);
  }
}

const serviceSaid = ({ key, tenant, principals }) => [
  key
    ? `Key ${key} of tenant ${tenant}`
    : "This service answers on this machine alone, without keys",
  principals.length > 0 && ` · reads as ${principals.join(", ")}`,
];

function submit() {
  asked = true;
  run(0, true);
}

/** One round; `anew`: asked for by hand, so the model is asked as well. */
async function assemble(signal, anew = false) {
  clearTimeout(resting);
  const wanted = wish();
  const can = ready(wanted);
  busy(can);
  if (!can) {
    // What was wrong before may be mended; what is missing now is said beside its control.
    clearProblem(byId("problem"));
    byId("state").textContent = wanted.question ? "" : "Ask a question.";
    return;
  }
  const begun = performance.now();
  try {
    const [made, naive] = await Promise.all([
      assembled(wanted, signal, anew ? null : shown()),
      joined(wanted, signal).catch(notNaive),
    ]);
    if (signal.aborted) return;
    clearProblem(byId("problem"));
    const first = shown() === null;
    show(made, naive, wish().gold);
    if (first || anew) toContexts();
    document.title = `${wanted.question} · foveate`;
    const took = whole(performance.now() - begun);
    byId("state").textContent =
      `${many(made.blocks.length, "block")}, ${whole(made.token_count)} tokens, ${took} ms`;
    keep(made);
    if (anew && wanted.model) await answers(wanted, signal);
  } catch (error) {
    if (!signal.aborted) failed(error, submit);
  } finally {
    if (!signal.aborted) busy(false);
  }
}

/** In the address: once the slider rests, for browsers refuse many addresses in a row. */
function keep(made) {
  const { question: q, tokens: budget, gold: expected, ...rest } = made.wish;
  const settled = () => toAddress({ ...rest, q, budget, expected });
  if (made.hasBundle) settled();
  else resting = setTimeout(settled, REST);
}

/** Bring the two contexts onto the first screen, if they begin below its middle or above it. */
function toContexts() {
  const place = byId("contexts");
  const top = place.getBoundingClientRect().top;
  if (top > innerHeight / 3 || top < document.querySelector(".live").offsetHeight) {
    place.scrollIntoView({ block: "start", behavior: "auto" });
  }
}

/** Whether the controls can be asked; what is missing is said beside them. */
function ready(wanted) {
  if (!wanted.question || !wanted.tokens || !wanted.recipe) return false;
  if (wanted.fault) byId("pasted-said").textContent = wanted.fault;
  return !wanted.fault;
}

/** The naive one may fail where the other does not; then there is none to show. */
function notNaive(error) {
  if (error.said) return null;
  throw error;
}

/** The model's answer from the very context that is shown and, beside it, from the naive one. */
async function answers(wanted, signal) {
  const both = wanted.both && wanted.recipe !== "naive";
  byId("joined").hidden = !both;
  const joinedAsk = body(wanted, { recipe: "naive" });
  await Promise.all([
    answer(body(wanted), "", both && "Assembled", toAnswered, signal),
    both && answer(joinedAsk, "joined-", "Plain joining", () => jump(byId("naive")), signal),
  ]);
}

/** One answer; its trouble is told where it would be. */
async function answer({ query, bundle, ...rest }, prefix, title, toMarked, signal) {
  const hosts = { answer: byId(`${prefix}answer`), checked: byId(`${prefix}checked`), title };
  try {
    await answered({ question: query, ...rest, stream: true }, hosts, toMarked, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    showProblem(hosts.answer, error, { again: submit });
  }
}

/** To what a marker stood for, as long as the context is the one that the answer was given from. */
function toAnswered(marker, from, hash) {
  if (shown().manifest.output_hash === hash) {
    toMarker(marker, from);
    return;
  }
  fill(byId("state"), "That answer was given from another context; ask again.");
}

function failed(error, again) {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 401) {
    askForKey(error.message, again);
    return;
  }
  byId("state").textContent = "";
  showProblem(byId("problem"), error, {
    before: shown() !== null,
    again: mayChange(error.status) && again,
    budget: (tokens) => {
      set(tokens);
      submit();
    },
  });
}

/** Whether another try can end otherwise: no answer, too many requests, a fault of the service. */
const mayChange = (status) => status === 0 || status === 408 || status === 429 || status >= 500;

function busy(on) {
  document.querySelector(".live").classList.toggle("busy", on);
  byId("result").setAttribute("aria-busy", String(on));
  if (on) byId("state").textContent = "assembling …";
}

/** Files into the store; what was kept and what was not is said beside the budget. */
async function uploaded() {
  const form = new FormData();
  for (const file of byId("upload").files) form.append("file", file);
  byId("upload").value = "";
  byId("state").textContent = "uploading …";
  try {
    const { documents, refused } = (await ask("/v1/documents", form)).value;
    clearProblem(byId("problem"));
    const failed = refused.map(({ file, detail }) => `${file}: ${detail}`).join("; ");
    byId("state").textContent = [`${many(documents.length, "document")} added`, failed]
      .filter(Boolean)
      .join("; not read: ");
  } catch (error) {
    failed(error, null);
  }
}

async function checkOwn(event) {
  event.preventDefault();
  const said = byId("said").value;
  const run = shown();
  if (!said.trim() || !run) return;
  try {
    const { text, token_count, blocks, citations, trace, metrics, manifest } = run;
    const context = { text, token_count, blocks, citations, trace, metrics, manifest };
    const { value } = await ask("/v1/check-answer", { answer: said, context, query: run.question });
    const jumpTo = (marker, from) => toAnswered(marker, from, manifest.output_hash);
    showChecked(byId("own-checked"), value, jumpTo);
  } catch (error) {
    if (!error.said) throw error;
    showProblem(byId("own-checked"), error);
  }
}

/** The address keeps what was asked, so links to parts of the page do not go there. */
function toPart(event) {
  const part = event.target.closest("a");
  if (!part) return;
  event.preventDefault();
  jump(byId(part.hash.slice(1)));
}
