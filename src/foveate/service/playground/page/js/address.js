// What was asked, kept behind the # of the address: a reload finds it, and no server is told.

const NAMES = ["q", "recipe", "budget", "expected", "limit", "model"];

/** What of `NAMES` the address has. */
export function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(
    NAMES.filter((name) => given.get(name)).map((name) => [name, given.get(name)]),
  );
}

export function toAddress(values) {
  const kept = new URLSearchParams();
  NAMES.filter((name) => values[name]).forEach((name) => kept.set(name, values[name]));
  history.replaceState(null, "", `${location.pathname}#${kept}`);
}
