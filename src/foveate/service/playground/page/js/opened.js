// A bundle of a file as a run: what was recorded, shown as it was.

/** Blocks and citations are not in a bundle; the text, the trace and the candidates are. */
export function runOfBundle(text) {
  const bundle = JSON.parse(text);
  return {
    text: bundle.text,
    token_count: bundle.manifest.token_count,
    blocks: [],
    citations: [],
    trace: bundle.trace,
    metrics: {},
    manifest: bundle.manifest,
    found: null,
    bundle: async () => text,
    hasBundle: true,
    question: bundle.query,
    candidates: bundle.candidates,
    neighbours: new Map(bundle.neighbours.map((chunk) => [chunk.id, chunk])),
    budget: bundle.budget,
    tokens: bundle.budget.documents ?? bundle.manifest.token_count,
  };
}
