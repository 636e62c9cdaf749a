// What the store holds: the first documents, as a start for a question. Not shown where one may not.

import { ask } from "./api.js";
import { button, el, fill } from "./dom.js";

const PAGE = 6;

export async function showShelf(host, sample) {
  const trial = el("div", { class: "row" }, button(null, "Try the built-in example", sample));
  const list = el("ul");
  const more = button(null, "More documents", () =>
    load().catch(() => {
      more.hidden = true;
    }),
  );
  let next = "";
  const load = async () => {
    const { value } = await ask(
      `/v1/documents?limit=${PAGE}${next ? `&cursor=${encodeURIComponent(next)}` : ""}`,
    );
    value.documents.forEach((one) =>
      list.append(
        el(
          "li",
          null,
          el("span", null, one.title || one.id),
          el("span", { class: "id" }, one.source || one.id),
        ),
      ),
    );
    next = value.next || "";
    more.hidden = !next;
  };
  fill(host, el("div", { class: "shelf" }, trial));
  try {
    await load();
  } catch {
    return;
  }
  fill(
    host,
    el(
      "div",
      { class: "shelf" },
      list.childElementCount
        ? [el("h3", null, "In the store"), list]
        : el(
            "p",
            null,
            "The store is empty. Upload files above, or run ",
            el("code", null, "foveate index FOLDER"),
            ".",
          ),
      el("div", { class: "row" }, more, trial.firstChild),
    ),
  );
}
