// Drawing anew must not take the focus away from whoever was in the middle of it.

const STOPS = "a[href], button, summary, input, select, textarea, [tabindex]";

/** Draw; if the focus was in a section that was drawn anew, it stands at the same stop of it. */
export function keepingFocus(draw) {
  const held = document.activeElement;
  const section = held.closest("section[id]");
  const place = section ? [...section.querySelectorAll(STOPS)].indexOf(held) : -1;
  draw();
  if (place < 0 || held.isConnected) return;
  const stops = [...section.querySelectorAll(STOPS)];
  stops[Math.min(place, stops.length - 1)]?.focus({ preventScroll: true });
}
