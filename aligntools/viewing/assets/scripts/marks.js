// The signs of drawings: what each says is said by its shape, and by its color too.
import { drawn } from "./dom.js";

// Where the sign of system k of so many stands in a cell: { x, y, size }, its middle and half its width.
export function slot(k, count, x, y, cell) {
  const across = count === 1 ? 1 : 2;
  const down = Math.ceil(count / across);
  const [width, height] = [cell / across, cell / down];
  const size = Math.max(2.5, Math.min(width, height) / 2 - (count === 1 ? 4 : 2));
  return { x: x + ((k % across) + 0.5) * width, y: y + (Math.floor(k / across) + 0.5) * height, size };
}

// A sign: filled square (right, plain), crossed square (wrong), ring (missed). Probability is shade.
export function sign(what, { x, y, size }, probability = null) {
  const shade = probability === null ? 1 : 0.25 + 0.75 * probability;
  if (what === "missed") return drawn("circle", { class: "m-missed", cx: x, cy: y, r: size * 0.85 });
  const square = `M${x - size} ${y - size}h${2 * size}v${2 * size}h${-2 * size}z`;
  if (what !== "wrong") return drawn("path", { class: `m-${what}`, d: square, opacity: shade });
  const cross = `M${x - size} ${y - size}l${2 * size} ${2 * size}m${-2 * size} 0l${2 * size} ${-2 * size}`;
  return drawn("path", { class: "m-wrong", d: square + cross, opacity: shade });
}

// The frame of a cell with a gold link.
export function frame(sure, x, y, cell) {
  const attributes = { x: x + 1.5, y: y + 1.5, width: cell - 3, height: cell - 3, rx: 2 };
  return drawn("rect", { class: sure ? "g-sure" : "g-possible", ...attributes });
}

// A small picture of a sign, for legends.
export function sample(what) {
  const picture = drawn("svg", { width: 18, height: 18, "aria-hidden": "true" });
  if (what === "sure" || what === "possible") picture.append(frame(what === "sure", 0, 0, 18));
  else picture.append(sign(what, { x: 9, y: 9, size: 5 }));
  return picture;
}

const measure = document.createElement("canvas").getContext("2d");

// The width of a word as `.word` draws it.
export function widthOf(text) {
  measure.font = `14px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

const LONGEST = 28;

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LETTER = /\p{L}/u;
const TURNED = { start: "end", middle: "middle", end: "start" };

// Whether a sentence runs from right to left: as its first letter does.
export function rightToLeft(words) {
  for (const word of words) {
    const letter = word.match(LETTER);
    if (letter) return RIGHT_TO_LEFT.test(letter[0]);
  }
  return false;
}

// A word short enough for a label; the whole word is its title. In a sentence from right to left (`turned`), brackets
// open to the left; "text-anchor" is given as it looks in either.
export function labelled(word, { "text-anchor": anchor = "start", ...attributes }, turned) {
  const letters = [...word];
  const short = letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : word;
  const order = turned ? { direction: "rtl", "unicode-bidi": "embed" } : { "unicode-bidi": "plaintext" };
  const own = { class: "word", "text-anchor": turned ? TURNED[anchor] : anchor, ...order, ...attributes };
  return drawn("text", own, short, short === word ? null : drawn("title", {}, word));
}
