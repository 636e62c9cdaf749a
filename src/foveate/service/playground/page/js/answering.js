// A model's answer as it arrives, its markers resolved, its claims checked.

import { Problem, stream } from "./api.js";
import { showChecked } from "./checked.js";
import { cited } from "./cited.js";
import { el, fill } from "./dom.js";
import { whole } from "./figures.js";
import { events } from "./sse.js";

/** Ask, and show what comes into `hosts`: `{answer, checked, title}`. `jumpTo(marker, from, hash)` is told
 *  from which context the answer was given. */
export async function answered(question, hosts, jumpTo, signal) {
  const said = el("p", { class: "said writing" });
  const used = el("p", { class: "used", role: "status" }, "The model is reading the context …");
  fill(hosts.answer, hosts.title && el("h3", null, hosts.title), said, used);
  fill(hosts.checked);
  hosts.answer.dataset.from = "";
  let hash = "";
  const jump = (marker, from) => jumpTo(marker, from, hash);
  try {
    for await (const { event, data } of events(await stream("/v1/ask", question, { signal }))) {
      if (event === "context") hash = data.manifest.output_hash;
      if (event === "text") said.append(said.textContent ? data.text : data.text.trimStart());
      if (event === "citation") said.append(...[cited(data, jump)].flat());
      if (event === "error") throw new Problem(data);
      if (event === "answer") {
        fill(used, spent(data));
        showChecked(hosts.checked, data.check, jump);
        hosts.answer.dataset.from = hash;
      }
    }
  } catch (error) {
    fill(used, signal.aborted ? "Stopped, for something else was asked." : "");
    throw error;
  } finally {
    said.classList.remove("writing");
  }
}

/** Tokens as the model counts them, and what they cost at the list price. */
function spent({ model, usage, finish }) {
  const said = [
    usage.prompt !== null && `${whole(usage.prompt)} tokens read`,
    usage.completion !== null && `${whole(usage.completion)} written`,
    usage.cost !== null && `$${usage.cost.toFixed(4)}`,
    finish === "length" && "cut off at the longest answer",
  ];
  return `${model || "model"}: ${said.filter(Boolean).join(", ") || "it does not say what it used"}`;
}
