// The last runs of this tab, to be shown again or compared with the one above. Kept nowhere else.

import { actions, bundleText } from "./bundle.js";
import { el, fill } from "./dom.js";
import { whole } from "./figures.js";

const MOST = 8;
const runs = [];

/** Remember a run and list those before it; `open` and `current` as for `replay`. */
export function remember(run, host, { open, current }) {
  const same = runs.findIndex(
    ({ manifest: { output_hash: hash, recipe } }) =>
      hash === run.manifest.output_hash && recipe === run.manifest.recipe,
  );
  if (same >= 0) runs.splice(same, 1);
  runs.unshift(run);
  runs.length = Math.min(runs.length, MOST);
  host.hidden = runs.length < 2;
  fill(
    host.querySelector("ol"),
    runs.slice(1).map((one) => row(one, open, current)),
  );
}

function row(run, open, current) {
  const { recipe } = run.manifest;
  const said = `${run.question}: ${recipe}, ${whole(run.token_count)} of ${whole(run.tokens)} tokens`;
  const host = el("div");
  return el(
    "li",
    null,
    el("p", null, said),
    actions(bundleText(run), host, { open, current, name: said }),
    host,
  );
}
