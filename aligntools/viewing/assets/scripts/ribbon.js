// A pair as a ribbon: the two sentences, each word tied to those that it is linked with. Side by side where there is
// room, else one word below the other.
import { drawn } from "./dom.js";
import { labelled, rightToLeft, sign, widthOf } from "./marks.js";
import { linkOf, verdict } from "./scores.js";

const GAP = 14;
const DEPTH = 150;
const ROW = 28;
const NARROW = 560;

// Where on a tie its sign stands, as shares of its width and depth: signs keep out of each other's way.
function along(k, count, turn) {
  const t = count === 1 ? 0.38 + 0.12 * (turn % 3) : 0.25 + (0.5 * k) / (count - 1);
  return [t * t * (3 - 2 * t), 1.5 * t * (1 - t) + t ** 3];
}

// The middle of each word along a line, in reading order, and how long the line is.
function lineOf(words, turned) {
  const widths = words.map((word) => Math.min(220, widthOf(word)) + GAP);
  const length = widths.reduce((a, b) => a + b, 0);
  let at = 0;
  const middles = widths.map((width) => {
    at += width;
    return turned ? length - at + width / 2 : at - width / 2;
  });
  return { widths, middles, length };
}

function lengthways(pair) {
  const lines = [pair.source, pair.target].map((words) => lineOf(words, rightToLeft(words)));
  const width = Math.max(...lines.map((line) => line.length), 40);
  const places = lines.map((line) => line.middles.map((x) => x + (width - line.length) / 2));
  return {
    width,
    height: DEPTH + 60,
    words: (side, k) => ({ x: places[side][k], y: side ? DEPTH + 46 : 22, "text-anchor": "middle" }),
    box: (side, k) => ({ x: places[side][k] - lines[side].widths[k] / 2, y: side ? DEPTH + 30 : 5, width: lines[side].widths[k], height: 24 }),
    tie(i, j, shift, [over, down]) {
      const [x, y, middle] = [places[0][i] + shift, places[1][j] + shift, 29 + DEPTH / 2];
      return { d: `M${x} 32C${x} ${middle} ${y} ${middle} ${y} ${DEPTH + 26}`, x: x + (y - x) * over, y: 32 + (DEPTH - 6) * down };
    },
  };
}

function downwards(pair, room) {
  const widest = (words) => Math.min(room * 0.36, Math.max(20, ...words.map(widthOf))) + 12;
  const [a, b] = [widest(pair.source), room - widest(pair.target)];
  const rows = Math.max(pair.source.length, pair.target.length);
  return {
    width: room,
    height: rows * ROW + 8,
    words: (side, k) => ({ x: side ? b + 8 : a - 8, y: k * ROW + 23, "text-anchor": side ? "start" : "end" }),
    box: (side, k) => ({ x: side ? b : 0, y: k * ROW + 6, width: side ? room - b : a, height: ROW - 4 }),
    tie(i, j, shift, [over, down]) {
      const [y, z] = [i * ROW + 18 + shift, j * ROW + 18 + shift];
      return { d: `M${a} ${y}C${(a + b) / 2} ${y} ${(a + b) / 2} ${z} ${b} ${z}`, x: a + (b - a) * down, y: y + (z - y) * over };
    },
  };
}

// Draw `pair` as `drawMatrix` does. A click on a source word and one on a target word are a click on their cell.
export function drawRibbon(pair, { over, click, room }) {
  const plan = room < NARROW ? downwards(pair, room) : lengthways(pair);
  const picture = drawn("svg", { width: plan.width, height: plan.height, class: "ribbon", role: "img" });
  const boxes = [[], []];
  const ties = [];
  const chosen = [...(pair.cursor ?? [null, null])];
  const sides = [pair.source, pair.target];
  sides.forEach((words, side) => words.forEach((_, k) => {
    boxes[side].push(drawn("rect", { class: "hit", rx: 4, ...plan.box(side, k) }));
  }));
  picture.append(...boxes.flat());
  for (const { links, k } of pair.layers) {
    const keys = new Set([...links.keys(), ...(pair.gold ? pair.gold.sure : [])]);
    for (const key of keys) {
      const what = verdict(links, pair.gold, key);
      const [i, j] = linkOf(key);
      const p = links.get(key) ?? null;
      const at = plan.tie(i, j, pair.count > 1 ? (k - (pair.count - 1) / 2) * 5 : 0, along(k, pair.count, i + j));
      const line = drawn("path", { class: `tie ${what}`, d: at.d, "stroke-opacity": p === null ? 1 : 0.25 + 0.75 * p });
      ties.push([i, j, line]);
      picture.append(line);
      if (what === "wrong" || what === "missed") {
        const mark = sign(what, { x: at.x, y: at.y, size: 4.5 });
        ties.push([i, j, mark]);
        picture.append(mark);
      }
    }
  }
  if (!pair.layers.length && pair.gold) {
    for (const key of pair.gold.possible) {
      const [i, j] = linkOf(key);
      const line = drawn("path", { class: "tie plain", d: plan.tie(i, j, 0, [0, 0]).d, "stroke-opacity": pair.gold.sure.has(key) ? 1 : 0.45 });
      ties.push([i, j, line]);
      picture.append(line);
    }
  }
  const labels = sides.map((words, side) => words.map((word, k) => labelled(word, { ...plan.words(side, k), "pointer-events": "none" }, rightToLeft(words))));
  picture.append(...labels.flat());

  function light(side, k) {
    for (const [i, j, node] of ties) node.classList.toggle("far", k !== null && (side ? j : i) !== k);
  }
  function show() {
    boxes.forEach((own, side) => own.forEach((box, k) => box.classList.toggle("choice", chosen[side] === k)));
  }
  boxes.forEach((own, side) => own.forEach((box, k) => {
    box.addEventListener("pointerenter", () => light(side, k));
    box.addEventListener("pointerleave", () => light(side, null));
    box.addEventListener("click", () => {
      chosen[side] = k;
      show();
      if (chosen[0] === null || chosen[1] === null) return;
      over(...chosen);
      click(...chosen);
      if (!pair.cursor) chosen[1 - side] = null;
    });
  }));
  show();
  return picture;
}
