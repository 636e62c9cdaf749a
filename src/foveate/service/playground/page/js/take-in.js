// Large texts into a field: from a file, or pasted. A browser's own way of inserting many lines
// takes time with the square of them, half a minute for a few thousand.

const LARGE = 20_000;

/** Pastes of many lines go in at once. */
export function quickPaste(field) {
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (text.length < LARGE) return;
    event.preventDefault();
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input"));
  });
}

/** What a file holds takes the place of what is in the field. */
export function fromFile(chooser, field) {
  chooser.addEventListener("change", async () => {
    const [file] = chooser.files;
    if (!file) return;
    field.value = (await file.text()).replace(/^\ufeff/, "");
    chooser.value = "";
    field.dispatchEvent(new Event("input"));
  });
}
