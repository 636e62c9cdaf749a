// Server-sent events out of a body, wherever its pieces were cut.

/** Yields `{event, data}`; `data` is the parsed JSON. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      waiting += (value || "").replaceAll("\r\n", "\n");
      const whole = waiting.split("\n\n");
      waiting = whole.pop();
      for (const one of whole) {
        const found = parsed(one);
        if (found) yield found;
      }
      if (done) return;
    }
  } finally {
    reader.cancel();
  }
}

function parsed(lines) {
  let event = "message";
  const data = [];
  for (const line of lines.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}
