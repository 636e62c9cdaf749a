// Where a text has the question's words, the answer that one expects, and what another text lacks.

import { known } from "./known.js";

const splitter = new Intl.Segmenter(undefined, { granularity: "word" });
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

const folded = (word) =>
  word
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();

/** The question's words of weight, folded. */
export function termsOf(question, language = "en") {
  const light = new Set(known.light[language]);
  const words = [...splitter.segment(question)].filter((part) => part.isWordLike);
  return new Set(words.map((part) => folded(part.segment)).filter((word) => !light.has(word)));
}

/** Ranges of the text, apart and in order: `{start, end, gold}`. An expected answer wins over words. */
export function evidence(text, terms, gold) {
  const wanted = goldRanges(text, gold);
  const words = terms.size ? wordRanges(text, terms) : [];
  const free = words.filter((one) => !wanted.some((w) => one.start < w.end && w.start < one.end));
  return [...wanted, ...free].sort((one, other) => one.start - other.start);
}

/** Where the expected answer stands, whatever its case and white space. */
export function goldRanges(text, gold) {
  const words = gold.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const found = text.matchAll(new RegExp(pattern, "giu"));
  return [...found].map((one) => ({
    start: one.index,
    end: one.index + one[0].length,
    gold: true,
  }));
}

function wordRanges(text, terms) {
  const found = [];
  for (const part of splitter.segment(text)) {
    if (!part.isWordLike || !meant(folded(part.segment), terms)) continue;
    found.push({ start: part.index, end: part.index + part.segment.length, gold: false });
  }
  return found;
}

/** Ranges of the sentences that another text does not have, whatever their white space and marks. */
export function alone(text, other) {
  const plain = (part) => part.replace(/…/g, "").replace(/\s+/g, " ").trim();
  const [there, found] = [plain(other), []];
  for (const { segment, index } of sentences.segment(text)) {
    const said = plain(segment);
    const last = found[found.length - 1];
    if (said && there.includes(said)) continue;
    if (last && last.end === index) last.end += segment.length;
    else if (said) found.push({ start: index, end: index + segment.length });
  }
  return found;
}

/** The word itself, or one that goes on a little: call, calls, calling. */
function meant(word, terms) {
  if (terms.has(word)) return true;
  for (let cut = 1; cut <= 3 && word.length - cut >= 4; cut += 1) {
    if (terms.has(word.slice(0, -cut))) return true;
  }
  return false;
}
