// The budget's slider: even steps on a scale of powers, so that 100 and 10,000 are both in reach.

const STEPS = 120;

/** Between `least` and `most` tokens, in round numbers. */
export function scale(least, most) {
  const span = Math.log(most / least);
  return {
    tokens: (place) => round(least * Math.exp((span * place) / STEPS)),
    place: (tokens) =>
      Math.max(0, Math.min(STEPS, Math.round((STEPS * Math.log(tokens / least)) / span))),
    steps: STEPS,
  };
}

/** Two digits that count, and a half step between them: 1,250, 960, 85. */
function round(tokens) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(tokens)) - 1) / (tokens >= 100 ? 2 : 1);
  return Math.round(tokens / unit) * unit;
}
