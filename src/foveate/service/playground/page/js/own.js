// Candidates of one's own: JSON Lines in, a list out, or the line that is none.

/** `{candidates}`, or `{fault}` that names the line. Values are the service's to judge. */
export function pasted(text) {
  const candidates = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    let value;
    try {
      value = JSON.parse(line);
    } catch (error) {
      return { fault: `Line ${index + 1} is not JSON: ${error.message}` };
    }
    if (value === null || typeof value !== "object" || Array.isArray(value))
      return { fault: `Line ${index + 1} is no JSON object.` };
    candidates.push(value);
  }
  return candidates.length ? { candidates } : { fault: "Paste at least one candidate." };
}
