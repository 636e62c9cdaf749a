// The first line: what was made; and how its candidates were found.

import { el, fill } from "./dom.js";
import { many, percent, whole } from "./figures.js";

export function showSummary(headline, badges, run) {
  const documents = new Set(run.blocks.map((block) => block.document_id)).size;
  fill(
    headline,
    el("b", null, run.manifest.recipe),
    ` made ${many(run.blocks.length, "block")} of `,
    `${many(documents, "document")} out of ${many(run.trace[0]?.before ?? 0, "candidate")}: `,
    el("b", { class: "nums" }, `${whole(run.token_count)} of ${whole(run.tokens)} tokens`),
    ` (${percent(run.token_count / run.tokens)}), counted by ${run.manifest.tokenizer}`,
  );
  fill(
    badges,
    badgesOf(run).map(([text, why]) => el("li", { class: "chip", title: why }, text)),
  );
}

function badgesOf({ found, manifest }) {
  if (!found) return [["your candidates", "They were handed in, not searched for."]];
  const how =
    found.badge === "hybrid"
      ? ["hybrid", "Found by meaning and by words together."]
      : [
          found.badge.replaceAll("_", " "),
          "No word of the question is in the store; found by meaning alone.",
        ];
  const exact = manifest.exact
    ? ["exact search", "Every chunk was compared."]
    : ["approximate search", `An index chose what was compared: ${manifest.index}`];
  return [
    how,
    [
      many(found.lexical_matches, "lexical match", "lexical matches"),
      "Chunks that hold words of the question.",
    ],
    exact,
  ];
}
