// One value out of a JSON text, byte for byte: reading and writing it again would turn 1.0 into 1,
// and what a bundle's hashes stand for with it.

/** The text of the value of a key of the outermost object; "" where there is none. */
export function valueText(json, key) {
  const depth = { now: 0 };
  for (let at = 0; at < json.length; at += 1) {
    const here = json[at];
    if (here === '"') {
      const end = afterString(json, at);
      const colon = spaceAfter(json, end);
      if (depth.now === 1 && json[colon] === ":" && JSON.parse(json.slice(at, end)) === key) {
        const start = spaceAfter(json, colon + 1);
        return json.slice(start, afterValue(json, start));
      }
      at = end - 1;
    } else if (here === "{" || here === "[") depth.now += 1;
    else if (here === "}" || here === "]") depth.now -= 1;
  }
  return "";
}

function afterString(json, at) {
  let end = at + 1;
  while (json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
  return end + 1;
}

function spaceAfter(json, at) {
  let end = at;
  while (/\s/.test(json[end] || "")) end += 1;
  return end;
}

function afterValue(json, start) {
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const here = json[at];
    if (here === '"') at = afterString(json, at) - 1;
    else if (here === "{" || here === "[") depth += 1;
    else if (here === "}" || here === "]") {
      if (depth === 0) return at;
      depth -= 1;
    } else if (here === "," && depth === 0) return at;
    if (depth === 0 && (here === "}" || here === "]")) return at + 1;
  }
  return json.length;
}
