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

/** Assemble, and keep the bytes that came: a bundle is saved as it was sent. */
export async function assembled(wish, signal) {
  const { value, text } = await ask("/v1/assemble", body(wish, { bundle: true }), { signal });
  return runOf(value, wish, text);
}

/** The same candidates and budget, joined by score. */
export async function joined(wish, signal) {
  const { value } = await ask("/v1/assemble", body(wish, { recipe: "naive" }), { signal });
  return runOf(value, wish, "");
}

/** The answer as the parts take it. */
function runOf(value, wish, raw) {
  const { bundle } = value;
  return {
    ...value,
    raw,
    question: wish.question,
    candidates: bundle?.candidates || [],
    neighbours: new Map((bundle?.neighbours || []).map((chunk) => [chunk.id, chunk])),
    budget: bundle?.budget || null,
    tokens: wish.tokens,
  };
}
