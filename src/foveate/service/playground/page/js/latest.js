// Live work: begins at once, ends what is under way, and drops answers that come late.

/**
 * `latest(work)` → `run(apart, …given)`; `work(signal, …given)` is done for the last `run` alone, at
 * least so many milliseconds after it began before.
 */
export function latest(work) {
  let timer = 0;
  let begun = -Infinity;
  let under = new AbortController();
  return (apart, ...given) => {
    clearTimeout(timer);
    under.abort();
    under = new AbortController();
    const { signal } = under;
    timer = setTimeout(
      () => {
        begun = performance.now();
        work(signal, ...given);
      },
      Math.max(0, begun + apart - performance.now()),
    );
  };
}
