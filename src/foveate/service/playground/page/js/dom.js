// Elements out of values. Nothing here, nor anywhere else, reads a text as HTML: a string is a
// text node, whatever stands in it.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `el("a", {class: "id", href: "#x", onclick: f}, "text", node, …)`. Absent, null and
 *  false attributes and children are left out. */
export function el(name, attributes, ...children) {
  return made(document.createElement(name), attributes, children);
}

/** The same for drawings. */
export function svg(name, attributes, ...children) {
  return made(document.createElementNS(SVG, name), attributes, children);
}

/** Put these in the place of all that an element holds. */
export function fill(host, ...children) {
  host.replaceChildren(...nodes(children));
  return host;
}

export const byId = (id) => document.getElementById(id);

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...nodes(children));
  return node;
}

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
