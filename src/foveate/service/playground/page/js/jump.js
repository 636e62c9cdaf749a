// Jumps within the page that one can take back: from a citation to its chunk, and home again.

import { byId } from "./dom.js";

const trail = [];

/** Focus what is jumped to and show where it is; `from` is where Back and Escape return. */
export function jump(to, from) {
  if (!to) return;
  if (from) trail.push(from);
  const folded = to.closest("details:not([open])");
  if (folded) folded.open = true;
  show(to);
  document.querySelectorAll(".flash").forEach((one) => one.classList.remove("flash"));
  to.classList.add("flash");
}

/** Back to where the last jump began. */
export function back() {
  tidy();
  const from = trail.pop();
  if (from) show(from);
}

/** After something was drawn anew: forget what is not there any more. */
export function tidy() {
  const there = trail.filter((one) => one.isConnected);
  trail.splice(0, trail.length, ...there);
  byId("back").hidden = trail.length === 0;
}

function show(to) {
  byId("back").hidden = trail.length === 0;
  to.focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  to.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}
