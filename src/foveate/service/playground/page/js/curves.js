// A reading curve: how well a model was measured to read evenly spaced places of its context.

/** The accuracy at a relative position, on the straight line between its neighbours. */
export function height(curve, at) {
  const place = at * (curve.length - 1);
  const i = Math.min(Math.floor(place), curve.length - 2);
  return curve[i] + (curve[i + 1] - curve[i]) * (place - i);
}

/** Where each block stands in its text, as shares from 0 to 1; `weight`: its score between the
 *  least and the best of them. */
export function placesOf(run, length, holds) {
  const scores = run.blocks.map((block) => block.score);
  const least = Math.min(...scores);
  const span = Math.max(...scores) - least || 1;
  return run.blocks.map((block) => {
    const [start, end] = block.span.map((place) => place / Math.max(1, length));
    return {
      marker: block.marker,
      start,
      end,
      middle: (start + end) / 2,
      weight: scores.length > 1 ? (block.score - least) / span : 1,
      score: block.score,
      gold: holds(block),
    };
  });
}
