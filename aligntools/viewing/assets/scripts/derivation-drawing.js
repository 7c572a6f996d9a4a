// Draw a derivation: boxes of rules over the source words that they cover; derivation_svg.py draws the same for papers.
import { drawn } from "./dom.js";

const ROW = 50;
const BOX = 42;
const EDGE = 8;
const GAP = 3;
const SIGNS = { "[X,1]": "①", "[X,2]": "②" };
const pen = document.createElement("canvas").getContext("2d");
const family = getComputedStyle(document.documentElement).getPropertyValue("--sans");

function widthOf(text, size) {
  pen.font = `${size}px ${family}`;
  return pen.measureText(text).width;
}

// A side of a rule as text, its nonterminals as signs.
export function sideText(symbols, tails) {
  return symbols.map((symbol) => (tails.length && SIGNS[symbol]) || symbol).join(" ");
}

function boxesOf({ words, rules }) {
  const found = [];
  if (!rules.length) return found;
  if (!rules[0].own) found.push({ row: 0, begin: rules[0].begin, end: rules[0].end, target: words.join(" "), source: "", joined: true });
  const stack = [[0, 1]];
  while (stack.length) {
    const [number, row] = stack.pop();
    const rule = rules[number];
    if (rule.own) found.push({ row, begin: rule.begin, end: rule.end, target: sideText(rule.target, rule.tails) || "∅", source: sideText(rule.source, rule.tails), score: rule.score });
    for (const tail of rule.tails) stack.push([tail, rule.own ? row + 1 : row]);
  }
  return found;
}

function columnsOf(source, boxes) {
  const widths = source.map((word) => widthOf(word, 13) + 14);
  for (const box of [...boxes].sort((a, b) => a.end - a.begin - (b.end - b.begin))) {
    let lacking = Math.max(widthOf(box.target, 13), widthOf(box.source, 11)) + 14 + GAP;
    for (let k = box.begin; k < box.end; k++) lacking -= widths[k];
    if (lacking > 0) for (let k = box.begin; k < box.end; k++) widths[k] += lacking / (box.end - box.begin);
  }
  const edges = [EDGE];
  for (const width of widths) edges.push(edges[edges.length - 1] + width);
  return edges;
}

export function drawDerivation(source, derivation, name) {
  const boxes = boxesOf(derivation);
  const edges = columnsOf(source, boxes);
  const bottom = EDGE + ROW * (1 + boxes.reduce((most, box) => Math.max(most, box.row), 0));
  const svg = drawn("svg", { class: "derivation", width: Math.ceil(edges[edges.length - 1] + EDGE), height: bottom + 30, role: "img", "aria-label": name });
  for (const box of boxes) {
    const x = edges[box.begin] + GAP / 2;
    const y = EDGE + box.row * ROW;
    const width = edges[box.end] - edges[box.begin] - GAP;
    const middle = x + width / 2;
    svg.append(
      drawn("g", {},
        box.joined ? null : drawn("title", {}, `${box.source} ||| ${box.target}: ${box.score}`),
        drawn("rect", { class: box.joined ? "joined" : null, x, y, width: Math.max(1, width), height: BOX, rx: 5 }),
        drawn("text", { class: "target", x: middle, y: y + (box.joined ? 26 : 18) }, box.target),
        box.joined ? null : drawn("text", { class: "source", x: middle, y: y + 35 }, box.source)),
    );
  }
  source.forEach((word, k) => svg.append(drawn("text", { class: "word", x: (edges[k] + edges[k + 1]) / 2, y: bottom + 16 }, word)));
  return svg;
}
