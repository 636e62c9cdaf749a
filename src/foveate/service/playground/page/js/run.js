// One assembly: what is asked of the service, and what came of it as the page's parts take it.

import { ask } from "./api.js";
import { known } from "./known.js";

/** The body of a request. A model brings its own zones; else they are the recipe's. */
export function body(wish, { recipe = wish.recipe, bundle = false } = {}) {
  return {
    query: wish.question,
    recipe,
    budget: wish.model ? wish.tokens : zonesOf(wish),
    ...(wish.model ? { model: wish.model, prompt: "grounded" } : {}),
    ...(wish.own
      ? { candidates: wish.own }
      : { limit: wish.limit, depth: Math.max(50, wish.limit) }),
    bundle,
  };
}

/** The recipe's zones with the slider's tokens for documents; no window where they overflow it. */
function zonesOf({ zones, tokens }) {
  const found = { ...known.zones, ...zones, documents: tokens, characters: null };
  const taken = ["system", "conversation", "query", "generation", "buffer"];
  const total = tokens + taken.reduce((sum, name) => sum + found[name], 0);
  return total > found.window ? { ...found, window: null } : found;
}

/** Assemble. A bundle, which has the candidates, is a megabyte, so a run of the candidates of `before`
 *  (another run, or null) takes them from there. */
export async function assembled(wish, signal, before) {
  const same = before?.wish && exceptTokens(before.wish) === exceptTokens(wish);
  if (!same) return withBundle(wish, signal);
  const { value } = await ask("/v1/assemble", body(wish), { signal });
  if (value.manifest.inputs_hash !== before.manifest.inputs_hash) return withBundle(wish, signal);
  const { candidates, neighbours } = before;
  const zones = wish.model ? { documents: wish.tokens } : zonesOf(wish);
  const budget = { ...before.budget, ...zones };
  return { ...runOf(value, wish), candidates, neighbours, budget, hasBundle: false };
}

/** The same candidates and budget, joined by score. */
export async function joined(wish, signal) {
  const { value } = await ask("/v1/assemble", body(wish, { recipe: "naive" }), { signal });
  return runOf(value, wish);
}

const exceptTokens = ({ question, recipe, limit, model, own }) =>
  JSON.stringify([question, recipe, limit, model, own]);

/** With its bundle, for the candidates in it. */
async function withBundle(wish, signal) {
  const { value } = await ask("/v1/assemble", body(wish, { bundle: true }), { signal });
  const { candidates, neighbours, budget } = value.bundle;
  return {
    ...runOf(value, wish),
    candidates,
    neighbours: new Map(neighbours.map((chunk) => [chunk.id, chunk])),
    budget,
    hasBundle: true,
  };
}

/** What every answer has, as the parts take it. */
const runOf = (value, wish) => ({ ...value, wish, question: wish.question, tokens: wish.tokens });
