// What the package knows and the page shows: sentences, light words, zones; from the public API the
// reading curves.

export const known = {
  sentences: {},
  stitched: {},
  counterfactuals: {},
  several: "$^",
  light: {},
  zones: {},
  curves: [],
  styles: [],
};

/** Fetch it once, before anything is drawn. */
export async function learn() {
  const response = await fetch(new URL("../known.json", import.meta.url));
  if (response.ok) Object.assign(known, await response.json());
}
