// Elements out of values. Nothing here, nor anywhere else, reads a text as HTML: a string is a
// text node, whatever stands in it.

/** An element: `el("a", {class: "id", href: "#x", onclick: f}, "text", node, …)`. Absent, null and
 *  false attributes and children are left out. */
export function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) node.style.setProperty(key, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...nodes(children));
  return node;
}

/** A table: the heads of its columns, and rows that begin with their own. `kind`: the class of all
 *  columns but the first. */
export function table({ caption, kind, ...attributes }, heads, rows) {
  const cells = (values) => values.map((value) => el("td", { class: kind }, value));
  return el(
    "table",
    attributes,
    caption && el("caption", null, caption),
    el(
      "thead",
      null,
      el(
        "tr",
        null,
        heads.map((one, at) => el("th", { scope: "col", class: at > 0 && kind }, one)),
      ),
    ),
    el(
      "tbody",
      null,
      rows.map(([name, ...values]) =>
        el("tr", null, el("th", { scope: "row" }, name), cells(values)),
      ),
    ),
  );
}

/** A button of this class: `go(from)`, `from` the button itself. */
export const button = (kind, text, go) =>
  el(
    "button",
    { type: "button", class: kind, onclick: (event) => go(event.currentTarget) },
    text,
  );

/** Put these in the place of all that an element holds. */
export function fill(host, ...children) {
  host.replaceChildren(...nodes(children));
  return host;
}

export const byId = (id) => document.getElementById(id);

const nodes = (children) =>
  children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));

/** Hand the parts to the person as a file of this name and media type. */
export function download(name, parts, type) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Put the text on the clipboard, and say so on the button for a moment. */
export async function copied(button, text) {
  const said = button.textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = said;
  }, 1500);
}
