// Jumps within the page that one can take back: from a citation to its chunk, and home again.

const trail = [];

/** Focus what is jumped to and show where it is; `from` is where `back` returns. */
export function jump(to, from) {
  if (!to) return;
  if (from) trail.push(from);
  const folded = to.closest("details:not([open])");
  if (folded) folded.open = true;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "center", behavior: smooth() });
  document.querySelectorAll(".flash").forEach((one) => one.classList.remove("flash"));
  to.classList.add("flash");
}

/** Back to where the last jump began. */
export function back() {
  const from = trail.pop();
  if (!from?.isConnected) return;
  from.focus({ preventScroll: true });
  from.scrollIntoView({ block: "center", behavior: smooth() });
}

export const canGoBack = () => trail.length > 0;

const smooth = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");
