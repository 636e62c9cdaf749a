// What the package knows and the page shows: sentences, light words, zones, and how well
// a model reads each place of its context.

export const known = {
  sentences: {},
  stitched: {},
  counterfactuals: {},
  several: "$^",
  light: {},
  zones: {},
  curve: [],
  styles: [],
};

/** Fetch it once, before anything is drawn. */
export async function learn() {
  const response = await fetch(new URL("../known.json", import.meta.url));
  if (response.ok) Object.assign(known, await response.json());
}
