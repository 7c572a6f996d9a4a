// Draw a dependency tree: arcs above the words, those of a gold tree below them.
import { drawn } from "./dom.js";
import { arcsOf, crossingsOf } from "./tree-layout.js";

const LEVEL = 21;
const WORDS = 42;
const GAP = 16;
const PORT = 7;
const EDGE = 8;
const SIGNS = { plain: "", right: "", label: "◇ ", wrong: "✗ ", missed: "○ " };
const pen = document.createElement("canvas").getContext("2d");
const family = getComputedStyle(document.documentElement).getPropertyValue("--sans");

function widthOf(text, size) {
  pen.font = `${size}px ${family}`;
  return pen.measureText(text).width;
}

// What is right and wrong in a tree: the kind of each word's arc, in it and in the gold tree.
export function kindsOf(tree) {
  const { heads, labels, goldHeads, goldLabels } = tree;
  if (!goldHeads) return { own: heads.map(() => "plain"), gold: [] };
  return {
    own: heads.map((head, k) => {
      if (head !== goldHeads[k]) return "wrong";
      return labels && goldLabels && labels[k] !== goldLabels[k] ? "label" : "right";
    }),
    gold: heads.map((head, k) => (head === goldHeads[k] ? "right" : "missed")),
  };
}

// The arcs on one side of the words: where they meet them, and how high it is.
function sideOf(heads, labels, kinds, only) {
  const n = heads.length;
  const arcs = arcsOf(only ? heads.map((head, k) => (kinds[k] === "right" ? -1 : head)) : heads);
  const texts = heads.map((head, k) => SIGNS[kinds[k]] + ((labels && labels[k]) || (head === 0 ? "root" : "")));
  const ends = Array.from({ length: n }, () => []);
  for (const arc of arcs) {
    const length = arc.end - arc.begin;
    if (arc.head < 0) ends[arc.word].push([0, 0, arc]);
    else {
      ends[arc.begin].push([1, -length, arc]);
      ends[arc.end].push([-1, length, arc]);
    }
  }
  const ports = new Map();
  const room = ends.map((own, word) => {
    own.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    own.forEach(([, , arc], k) => ports.set(`${word} ${arc.word}`, (k - (own.length - 1) / 2) * PORT));
    return Math.max(0, own.length - 1) * PORT;
  });
  const levels = arcs.reduce((most, arc) => Math.max(most, arc.level), 0);
  return { arcs, kinds, texts, room, height: arcs.length ? levels * LEVEL + 21 : 0, port: (word, arc) => ports.get(`${word} ${arc.word}`) };
}

// Where the centers of the words are, so that no words and no labels overlap, and the width of all.
function spread(words, tags, sides) {
  const n = words.length;
  const widths = words.map((word, k) => Math.max(widthOf(word, 15), tags ? widthOf(tags[k], 11) : 0, ...sides.map((side) => side.room[k])));
  const gaps = widths.slice(1).map((width, k) => (width + widths[k]) / 2 + GAP);
  for (const side of sides) {
    for (const arc of [...side.arcs].sort((a, b) => a.end - a.begin - (b.end - b.begin))) {
      if (arc.head < 0) continue;
      let there = side.port(arc.end, arc) - side.port(arc.begin, arc);
      for (let k = arc.begin; k < arc.end; k++) there += gaps[k];
      const lacking = widthOf(side.texts[arc.word], 11) + 14 - there;
      if (lacking > 0) for (let k = arc.begin; k < arc.end; k++) gaps[k] += lacking / (arc.end - arc.begin);
    }
  }
  const centers = [];
  let x = EDGE + Math.max(widths[0] || 0, 40) / 2;
  for (let k = 0; k < n; k++) {
    centers.push(x);
    x += k < n - 1 ? gaps[k] : Math.max(widths[k], 40) / 2;
  }
  return { centers, width: x + EDGE };
}

function drawSide(side, centers, edge, sign) {
  const nodes = [];
  for (const arc of side.arcs) {
    const tip = centers[arc.word] + side.port(arc.word, arc);
    const y = edge + sign * arc.level * LEVEL;
    let path = `M${tip} ${edge + 2 * sign}V${y}`;
    let middle = tip;
    if (arc.head >= 0) {
      const start = centers[arc.head] + side.port(arc.head, arc);
      const r = Math.min(7, Math.abs(start - tip) / 2);
      const turn = start > tip ? r : -r;
      middle = (start + tip) / 2;
      path = `M${tip} ${edge + 2 * sign}V${y - sign * r}Q${tip} ${y} ${tip + turn} ${y}H${start - turn}Q${start} ${y} ${start} ${y - sign * r}V${edge}`;
    }
    nodes.push(
      drawn("g", { class: `arc arc-${side.kinds[arc.word]}`, "data-word": arc.word, "data-head": arc.head },
        drawn("path", { d: path }),
        drawn("path", { class: "tip", d: `M${tip} ${edge}l-3.2 ${6.5 * sign}h6.4z` }),
        drawn("text", { x: middle, y: sign < 0 ? y - 4 : y + 13 }, side.texts[arc.word])),
    );
  }
  for (const [low, high] of crossingsOf(side.arcs)) {
    const word = high.head < 0 ? high.word : low.begin < high.begin && high.begin < low.end ? high.begin : high.end;
    nodes.push(drawn("circle", { class: "crossing", cx: centers[word] + side.port(word, high), cy: edge + sign * low.level * LEVEL, r: 3.5 }));
  }
  return nodes;
}

// Return the picture. `below`: "gold" all of the gold tree, "missed" what of it is missing above, "" nothing.
// `marked(k)` says whether a word is to be marked.
export function drawTree(tree, { below = "gold", name = "", marked = () => false } = {}) {
  const kinds = kindsOf(tree);
  const sides = [sideOf(tree.heads, tree.labels, kinds.own, false)];
  if (tree.goldHeads && below) sides.push(sideOf(tree.goldHeads, tree.goldLabels, kinds.gold, below === "missed"));
  const { centers, width } = spread(tree.words, tree.tags, sides);
  const top = EDGE + sides[0].height;
  const height = top + WORDS + (sides[1] ? sides[1].height : 0) + EDGE;
  const svg = drawn("svg", { class: "tree", width: Math.ceil(width), height: Math.ceil(height), role: "img", "aria-label": name });
  sides.forEach((side, k) => svg.append(...drawSide(side, centers, k ? top + WORDS : top, k ? 1 : -1)));
  tree.words.forEach((word, k) => {
    const wrong = kinds.own[k] === "wrong" || kinds.own[k] === "label";
    const group = drawn("g", { class: wrong ? "word at-fault" : "word", "data-word": k });
    if (marked(k)) group.append(drawn("rect", { class: "found", x: centers[k] - widthOf(word, 15) / 2 - 4, y: top + 2, width: widthOf(word, 15) + 8, height: 20, rx: 4 }));
    group.append(drawn("text", { x: centers[k], y: top + 18, class: "form" }, word));
    if (tree.tags) group.append(drawn("text", { x: centers[k], y: top + 34, class: "tag" }, tree.tags[k]));
    svg.append(group);
  });
  return svg;
}
