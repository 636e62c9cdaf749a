// Spans count characters as Python does; a string here counts halves of the rarer ones.

/** `cut(start, end)` of a text by characters. */
export function cutter(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (start, end) => text.slice(start, end);
  const places = [0];
  for (const character of text) places.push(places[places.length - 1] + character.length);
  return (start, end) => text.slice(places[start], places[Math.min(end, places.length - 1)]);
}

/** How many characters a text has. */
export const characters = (text) => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length);
