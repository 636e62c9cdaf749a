// Live work: what is under way may end first, a row of moves ends in its last one, and late answers
// are dropped.

const PATIENCE = 1_000; // milliseconds that what is under way has to end

/**
 * `latest(work)` → `run(apart, …given)`; `work(signal, …given)` is done for the last `run`: at once
 * if `apart` is 0, else so many milliseconds after it began before, and behind what is under way.
 */
export function latest(work) {
  let last = 0;
  let begun = -Infinity;
  let ended = Promise.resolve();
  let under = new AbortController();
  const passed = (time) =>
    new Promise((done) => setTimeout(done, Math.max(0, begun + time - performance.now())));
  return async (apart, ...given) => {
    const mine = ++last;
    if (apart > 0) {
      await Promise.all([passed(apart), Promise.race([ended, passed(PATIENCE)])]);
      if (mine !== last) return;
    }
    under.abort();
    under = new AbortController();
    begun = performance.now();
    const doing = work(under.signal, ...given);
    ended = Promise.allSettled([doing]);
    await doing;
  };
}
