// The controls as one wish: what is asked, out of what, by which recipe, for how many tokens.

import { ask } from "./api.js";
import { byId, el, fill } from "./dom.js";
import { many, whole } from "./figures.js";
import { pasted } from "./own.js";
import { BUDGET, CANDIDATES, GOLD, QUESTION } from "./sample.js";
import { scale } from "./scale.js";
import { fromFile, quickPaste } from "./take-in.js";

const LEAST = 50;
const MOST = 32_000;
const tokens = scale(LEAST, MOST);
const zones = new Map(); // of each recipe that was looked at: its own budget, as far as it has one

/** `changed()`: a control that assembles live was moved; `looked()`: only what is lit changed. */
export function controls({ changed, looked }) {
  byId("budget").addEventListener("input", () => {
    set(tokens.tokens(Number(byId("budget").value)));
    changed();
  });
  byId("tokens").addEventListener("input", () => {
    if (amount() > 0) {
      placeSlider();
      changed();
    }
  });
  byId("recipe").addEventListener("change", async () => {
    about();
    await learnZones();
    changed();
  });
  byId("limit").addEventListener("change", changed);
  byId("model").addEventListener("change", () => {
    showBoth();
    changed();
  });
  byId("gold").addEventListener("input", looked);
  document.querySelectorAll("[name=origin]").forEach((one) =>
    one.addEventListener("change", () => {
      showOrigin();
      changed();
    }),
  );
  byId("pasted").addEventListener("input", () => {
    sayPasted();
    changed();
  });
  quickPaste(byId("pasted"));
  fromFile(byId("own-file"), byId("pasted"));
  byId("sample").addEventListener("click", () => {
    fillSample();
    changed();
  });
  set(1_000);
}

/** What the controls say now; `{fault}` where they cannot be asked for. */
export function wish() {
  const own = origin() === "own";
  const found = own ? pasted(byId("pasted").value) : {};
  return {
    question: byId("question").value.trim(),
    gold: byId("gold").value,
    limit: Number(byId("limit").value),
    recipe: byId("recipe").value,
    tokens: amount(),
    model: byId("model").value,
    both: byId("both").checked,
    zones: zones.get(byId("recipe").value) || {},
    own: own ? found.candidates : null,
    fault: found.fault || "",
  };
}

/** Put so many tokens on the slider and in the field. */
export function set(count) {
  byId("tokens").value = count;
  placeSlider();
}

function placeSlider() {
  const slider = byId("budget");
  slider.value = tokens.place(amount());
  slider.style.setProperty("--full", `${(100 * slider.value) / tokens.steps}%`);
  slider.setAttribute("aria-valuetext", `${whole(amount())} tokens`);
}

const amount = () => Math.max(0, Math.floor(Number(byId("tokens").value)) || 0);

/** Fill the lists: `{recipes: [{name, description}], models: [name], store, recipe}`; take what the
 *  address had, else the service's own recipe. Without a store there are candidates of one's own alone. */
export async function offer({ recipes, models, store, recipe }, before) {
  fill(
    byId("recipe"),
    recipes.map(({ name, description }) =>
      el("option", { value: name, "data-about": description }, name),
    ),
  );
  byId("recipe").value =
    [before.recipe, recipe, "default"].find((wanted) => recipes.some(({ name }) => name === wanted)) ||
    recipes[0].name;
  if (!store) {
    document.querySelector("[name=origin][value=store]").disabled = true;
    choose("own");
  }
  fill(
    byId("model"),
    el("option", { value: "" }, "no model"),
    models.map((name) => el("option", { value: name }, name)),
  );
  byId("model").closest(".field").hidden = models.length === 0;
  if (Number(before.budget) > 0) set(Number(before.budget));
  for (const name of ["limit", "model"]) {
    const there = [...byId(name).options].some(({ value }) => value === before[name]);
    if (there) byId(name).value = before[name];
  }
  showBoth();
  // What was typed meanwhile stays.
  byId("question").value ||= before.q || "";
  byId("gold").value ||= before.expected || "";
  about();
  await learnZones();
}

function about() {
  byId("about").textContent = byId("recipe").selectedOptions[0]?.dataset.about || "";
}

async function learnZones() {
  const name = byId("recipe").value;
  if (zones.has(name)) return;
  try {
    zones.set(
      name,
      (await ask(`/v1/recipes/${encodeURIComponent(name)}`)).value.recipe.budget || {},
    );
  } catch (error) {
    if (!error.said) throw error;
  }
}

function showBoth() {
  byId("both").closest("label").hidden = !byId("model").value;
}

const origin = () => document.querySelector("[name=origin]:checked").value;

function showOrigin() {
  byId("own").hidden = origin() !== "own";
  byId("limit").closest(".field").hidden = origin() === "own";
  sayPasted();
}

function sayPasted() {
  const { candidates, fault } = pasted(byId("pasted").value);
  byId("pasted-said").textContent = byId("pasted").value.trim()
    ? fault || many(candidates.length, "candidate")
    : "";
}

/** The example, ready to be asked. */
export function fillSample() {
  byId("pasted").value = CANDIDATES.map((one) => JSON.stringify(one)).join("\n");
  byId("question").value = QUESTION;
  byId("gold").value = GOLD;
  set(BUDGET);
  choose("own");
}

function choose(value) {
  document.querySelector(`[name=origin][value=${value}]`).checked = true;
  showOrigin();
}
