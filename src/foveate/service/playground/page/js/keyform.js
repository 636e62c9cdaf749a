// The key: asked for when the service wants one, held in this tab alone.

import { hasKey, useKey } from "./api.js";
import { byId } from "./dom.js";

/** Ask for a key; `fault` says why the last one did not do. `again()` once there is one. */
export function askForKey(fault, again) {
  const form = byId("key-form");
  form.hidden = false;
  byId("key-fault").textContent = hasKey() ? fault : "";
  byId("key").focus();
  form.onsubmit = (event) => {
    event.preventDefault();
    useKey(byId("key").value.trim());
    byId("key").value = "";
    form.hidden = true;
    again();
  };
}
