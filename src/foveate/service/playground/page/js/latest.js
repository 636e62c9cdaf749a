// Live work: waits until the hand rests, ends what is under way, and drops answers that come late.

/** `latest(work, wait)` → `run(…given)`; `work(signal, …given)` is called for the last `run` alone. */
export function latest(work, wait) {
  let timer = 0;
  let under = null;
  return (...given) => {
    clearTimeout(timer);
    if (under) under.abort();
    const mine = new AbortController();
    under = mine;
    timer = setTimeout(async () => {
      try {
        await work(mine.signal, ...given);
      } finally {
        if (under === mine) under = null;
      }
    }, wait);
  };
}
