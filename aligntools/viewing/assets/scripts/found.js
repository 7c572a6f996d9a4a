// What `check` found in the pairs: marked words, in the list and above the drawing.
import { data } from "./data.js";
import { byId, element, refill } from "./dom.js";
import { wordsOf } from "./pairs.js";

const SAID = { "left-out": "left out", added: "added", repeated: "repeated" };
const places = new Map((data.found ?? []).map((one) => [one.pair, one]));

// Whether anything was checked at all.
export const checks = data.found !== null;

// What was found in a pair: { score, flagged, source, target, told }; undefined where it was not checked.
export function foundIn(n) {
  return places.get(n);
}

// A sentence as nodes, found words in marks; no more letters than `most`, if that is given.
export function markedText(n, side, most = Infinity) {
  const words = wordsOf(n)[side];
  const spans = foundIn(n)?.[side] ?? [];
  const kindAt = (at) => spans.find(([begin, end]) => begin <= at && at < end);
  const nodes = [];
  for (let at = 0, length = 0; at < words.length && length < most; ) {
    const span = kindAt(at);
    let end = at;
    while (end < words.length && kindAt(end) === span && length < most) length += words[end++].length + 1;
    const text = words.slice(at, end).join(" ");
    nodes.push(at ? " " : null, span ? element("mark", { class: `f-${span[2]}`, title: SAID[span[2]] }, text) : text);
    at = end;
  }
  return nodes;
}

function sample(kind) {
  return element("span", {}, element("mark", { class: `f-${kind}` }, SAID[kind]));
}

// Show above the drawing what was found in a pair.
export function drawFound(n) {
  const found = n === null ? undefined : foundIn(n);
  byId("found").hidden = !found;
  if (!found) return;
  const kinds = [...new Set([...found.source, ...found.target].map(([, , kind]) => kind))];
  const sentence = (side) => element("p", { class: "marked", dir: "auto" }, ...markedText(n, side));
  const told = found.told.map((text) => element("li", {}, element("bdi", {}, text)));
  refill(byId("found"),
    element("p", { class: "soft" }, element("span", { class: found.flagged ? "flagged" : "" }, found.flagged ? "⚑ flagged" : "passed"), ` score ${found.score.toFixed(2)}`),
    sentence("source"), sentence("target"),
    told.length ? element("ul", {}, ...told) : null,
    kinds.length ? element("p", { class: "legend" }, ...kinds.map(sample)) : null);
}
