// From the trace: what became of every candidate, stage by stage, and in the end.

const BY_BUDGET = new Set([
  "over_budget",
  "after_stop",
  "document_over_budget",
  "shed",
  "already_said",
]);

export const KINDS = {
  shown: "in the context",
  joined: "joined",
  twin: "duplicate",
  budget: "over budget",
  dropped: "dropped",
};

/** How a block shows its chunks, by rendition. */
export const LABELS = {
  verbatim: "in full",
  stripped: "in full",
  extract: "extract",
  abstract: "rewritten",
  truncated: "cut",
  piece: "piece",
  reference: "title only",
};

/** One for each candidate that the run knew: as they were found, then those that came in later.
 *  `{id, rank, candidate, kind, label, score, path, last, root, at}`: `rank` 0 for what was not
 *  found but came in, `root` what it went into, `at` where it is shown. */
export function fates(run) {
  const found = walked(run);
  const places = placesOf(run.blocks, found);
  return [...found.values()].map((fate) => settled(fate, found, places));
}

/** Ids → where they are shown. What holds others stands where the first of them does, although
 *  of itself nothing may be shown. */
function placesOf(blocks, found) {
  const shown = new Map();
  const holds = new Map();
  blocks.forEach(({ chunk_ids: ids, marker, rendition }, index) =>
    ids.forEach((id) => {
      const at = { marker, index, rendition };
      if (!shown.has(id)) shown.set(id, at);
      const root = found.get(id) && rootOf(found.get(id), found).id;
      if (root && !holds.has(root)) holds.set(root, at);
    }),
  );
  return (id, inside) => shown.get(id) || (inside ? holds.get(id) : null) || null;
}

function walked(run) {
  const found = new Map();
  const meet = (id, candidate, rank) => {
    if (!found.has(id))
      found.set(id, { id, rank, candidate, path: [], inside: true, into: "", last: null });
    return found.get(id);
  };
  byScore(run.candidates).forEach((candidate, index) => meet(candidate.id, candidate, index + 1));
  for (const stage of run.trace) {
    for (const decision of stage.decisions) {
      const fate = meet(decision.chunk_id, run.neighbours.get(decision.chunk_id) || null, 0);
      fate.path.push({ stage: stage.stage, decision });
      fate.inside = decision.action !== "dropped" && decision.action !== "merged";
      fate.into = decision.action === "merged" ? decision.by : "";
      fate.last = decision;
    }
  }
  return found;
}

function settled(fate, found, places) {
  const root = rootOf(fate, found);
  const at = places(fate.id, fate.inside);
  const kind = kindOf(fate, root, at);
  const label = labelOf(kind, fate, root, at);
  return { ...fate, root, kind, label, at, score: scoreOf(fate) };
}

/** Its own; a neighbour's is what it was let in with. */
function scoreOf({ candidate, path }) {
  const entered = path.find(({ decision }) => decision.action === "entered");
  return candidate?.score ?? entered?.decision.numbers.score ?? null;
}

/** What holds it in the end: itself, or what it was merged into, and that in turn. */
function rootOf(fate, found) {
  let here = fate;
  for (let steps = found.size; here.into && steps > 0; steps -= 1) {
    const next = found.get(here.into);
    if (!next) break;
    here = next;
  }
  return here;
}

function kindOf(fate, root, at) {
  if (fate.last?.action === "merged" && fate.last.reason !== "stitched") return "twin";
  if (at) return fate.into ? "joined" : "shown";
  if (!root.inside) return BY_BUDGET.has(root.last?.reason) ? "budget" : "dropped";
  return fate.into ? "budget" : "shown";
}

function labelOf(kind, fate, root, at) {
  if (kind === "shown") return LABELS[at?.rendition] || "in the context";
  if (kind === "joined") return `joined, ${LABELS[at.rendition] || "shown"}`;
  if (kind === "budget" && fate.into) return root.inside ? "left out of it" : "joined, over budget";
  if (kind === "dropped") return (root.last?.reason || "dropped").replaceAll("_", " ");
  return KINDS[kind];
}

/** The best first; as they came where two are alike. */
const byScore = (candidates) =>
  [...candidates].sort((one, other) => (other.score ?? 0) - (one.score ?? 0));
