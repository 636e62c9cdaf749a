// A problem as the service says it, with what can be done about it at once.

import { button, el, fill } from "./dom.js";
import { whole } from "./figures.js";

/** `remedy`: `{budget(tokens), again()}`; what applies becomes a button. `before`: what stands below
 *  came of an earlier request. */
export function showProblem(host, problem, remedy = {}) {
  const { said } = problem;
  const where = [said.line && `line ${said.line}`, said.field && `field ${said.field}`]
    .filter(Boolean)
    .join(", ");
  const needed = remedy.budget && said.needed && said.unit !== "characters";
  fill(
    host,
    el(
      "div",
      { class: "card bad" },
      el(
        "h3",
        null,
        said.title || "It did not work",
        said.status > 0 && el("small", null, ` ${said.status}`),
      ),
      el("p", null, problem.message),
      where && !problem.message.includes(where.split(",")[0]) && el("p", { class: "quiet" }, where),
      said.instance &&
        el(
          "p",
          { class: "quiet" },
          el("small", null, "Request ", el("span", { class: "id" }, said.instance)),
        ),
      remedy.before &&
        el("p", { class: "quiet" }, "Showing your last successful run."),
      (needed || remedy.again) &&
        el(
          "div",
          { class: "row" },
          needed &&
            button("small", `Use ${whole(said.needed)} tokens`, () => remedy.budget(said.needed)),
          remedy.again && button("small", "Try again", () => remedy.again()),
        ),
    ),
  );
}

export const clearProblem = (host) => fill(host);
