// Live work: waits until the hand rests, ends what is under way, and drops answers that come late.

/** `latest(work)` → `run(wait, …given)`; `work(signal, …given)` is done for the last `run` alone. */
export function latest(work) {
  let timer = 0;
  let under = new AbortController();
  return (wait, ...given) => {
    clearTimeout(timer);
    under.abort();
    under = new AbortController();
    timer = setTimeout(work, wait, under.signal, ...given);
  };
}
