// Reason codes in words. The sentences are those of the command line (known.json).

import { figure } from "./figures.js";
import { known } from "./known.js";

/** Why, and by how much; where it lost, what would have changed that. */
export const inWords = (decision) => [why(decision), ...whatIf(decision)].join("; ");

/** The reason alone. */
export function why(decision) {
  const stitched = decision.reason === "stitched" && known.stitched[decision.action];
  const sentence = stitched || known.sentences[decision.reason] || "";
  return filled(sentence, valuesOf(decision)) || plain(decision);
}

/** What would have changed it: `comes after c17, whose score is 0.04 higher`. */
export function whatIf(decision) {
  const values = valuesOf(decision);
  return Object.entries(known.counterfactuals)
    .filter(([name]) => name in decision.numbers)
    .map(([, words]) => filled(words, values))
    .filter(Boolean);
}

function valuesOf(decision) {
  const numbers = Object.entries(decision.numbers).map(([name, value]) => [name, figure(value)]);
  return Object.fromEntries([["by", decision.by], ...numbers]);
}

/** The sentence; empty where a number is missing that it wants. */
function filled(sentence, values) {
  let whole = true;
  const said = sentence.replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name in values)) whole = false;
    return values[name];
  });
  return whole ? said.replace(new RegExp(known.several, "g"), "1 $1") : "";
}

/** Reason, culprit and numbers as they are: a plugin's stage has reasons of its own. */
function plain(decision) {
  const values = valuesOf(decision);
  const rest = Object.keys(decision.numbers).filter((name) => !(name in known.counterfactuals));
  const by = decision.by ? [`by ${decision.by}`] : [];
  return [decision.reason, ...by, ...rest.map((name) => `${name} ${values[name]}`)].join(", ");
}
