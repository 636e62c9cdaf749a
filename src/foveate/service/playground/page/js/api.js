// The public API, and nothing else: one function asks, one streams; what fails is a Problem.

let key = sessionStorage.getItem("foveate-key") || "";

/** Use this key from now on; it lives as long as the tab. */
export function useKey(given) {
  key = given;
  if (given) sessionStorage.setItem("foveate-key", given);
  else sessionStorage.removeItem("foveate-key");
}

export const hasKey = () => key !== "";

/** What the service said was wrong (RFC 9457), or why it could not be reached. */
export class Problem extends Error {
  constructor(said) {
    super(said.detail || said.title || "the service did not say what is wrong");
    this.said = said;
    this.status = said.status || 0;
  }
}

/** GET without a body, POST with one, a form as a form. Gives `{value, text}`: the JSON, and the bytes it stood in. */
export async function ask(path, body, { signal } = {}) {
  const response = await reached(path, body, "application/json", signal);
  const text = await response.text();
  return { value: JSON.parse(text), text };
}

/** The same for an answer that arrives bit by bit. */
export async function stream(path, body, { signal } = {}) {
  return (await reached(path, body, "text/event-stream", signal)).body;
}

async function reached(path, body, accept, signal) {
  const headers = { accept };
  if (key) headers.authorization = `Bearer ${key}`;
  const bare = body === undefined || body instanceof FormData;
  if (!bare) headers["content-type"] = "application/json";
  const content = bare || typeof body === "string" ? body : JSON.stringify(body);
  const method = body === undefined ? "GET" : "POST";
  let response;
  try {
    response = await fetch(path, { method, headers, body: content, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({
      title: "Not reached",
      detail: "The service did not answer; is it running?",
    });
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function problemOf(response) {
  const plain = { title: response.statusText, status: response.status };
  try {
    return new Problem({ ...plain, ...(await response.json()) });
  } catch {
    return new Problem(plain);
  }
}
