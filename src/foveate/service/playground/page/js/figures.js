// Numbers as one reads them.

const plain = new Intl.NumberFormat("en-US", {
  maximumFractionDigits: 4,
  roundingMode: "halfEven",
});

/** As `foveate.pipeline.reason_messages.figure` does: 12,345 and 0.04. */
export const figure = (value) =>
  typeof value === "number" ? plain.format(value).replace(/^-0$/, "0") : String(value);

export const whole = (value) => Math.round(value).toLocaleString("en-US");

/** `1 chunk`, `12 chunks`. */
export const many = (count, noun, nouns = `${noun}s`) =>
  `${whole(count)} ${count === 1 ? noun : nouns}`;

/** `31 %`, on one line. */
export const percent = (share) => `${Math.floor(100 * share + 1e-9)}\u00a0%`;
