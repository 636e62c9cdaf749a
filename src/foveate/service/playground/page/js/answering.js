// A model's answer as it arrives, its citations linked, its claims checked.

import { Problem, stream } from "./api.js";
import { showChecked } from "./checked.js";
import { el, fill } from "./dom.js";
import { whole } from "./figures.js";
import { linked } from "./linked.js";
import { events } from "./sse.js";

/** Ask, and show what comes into `hosts`: `{answer, checked}`. `jumpTo(marker, from)`. */
export async function answered(question, hosts, jumpTo, signal) {
  const said = el("p", { class: "said writing", "aria-live": "off" });
  const used = el("p", { class: "used", role: "status" }, "The model is reading the context …");
  fill(hosts.answer, said, used);
  fill(hosts.checked);
  let text = "";
  let citations = [];
  try {
    for await (const { event, data } of events(await stream("/v1/ask", question, { signal }))) {
      if (event === "context") citations = (data.context || data).citations || [];
      if (event === "text") {
        text += data.text;
        fill(said, linked(text.trimStart(), citations, jumpTo));
      }
      if (event === "error") throw new Problem(data);
      if (event === "answer") finish(data, { said, used, hosts, citations, jumpTo });
    }
  } finally {
    said.classList.remove("writing");
  }
}

function finish(data, { said, used, hosts, citations, jumpTo }) {
  fill(said, linked(data.answer, citations, jumpTo, data.check?.dangling));
  fill(used, spent(data));
  if (data.check) showChecked(hosts.checked, data.check, jumpTo);
}

/** Tokens as the model counts them, and what they cost at the list price. */
function spent({ model, usage = {}, finish: end }) {
  const said = [
    usage.prompt !== null && usage.prompt !== undefined && `${whole(usage.prompt)} tokens read`,
    usage.completion !== null &&
      usage.completion !== undefined &&
      `${whole(usage.completion)} written`,
    usage.cost !== null && usage.cost !== undefined && `$${usage.cost.toFixed(4)}`,
    end === "length" && "cut off at the longest answer",
  ];
  return `${model || "model"}: ${said.filter(Boolean).join(", ") || "it does not say what it used"}`;
}
