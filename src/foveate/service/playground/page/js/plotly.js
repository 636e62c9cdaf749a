// The chart library, fetched when a chart is first looked at.

import { el } from "./dom.js";
import { known } from "./known.js";

let waiting = null;

/** The library; the same promise for all who ask. */
export function plotly() {
  waiting ||= new Promise((resolve, reject) => {
    // Styles of its maps, which this page has no use for and whose policy forbids them.
    known.styles.forEach((id) => document.head.append(el("meta", { id })));
    document.head.append(
      el("script", {
        src: new URL("../plotly.min.js", import.meta.url),
        onload: () => resolve(window.Plotly),
        onerror: () => reject(new Error("The chart library could not be fetched.")),
      }),
    );
  });
  return waiting;
}
