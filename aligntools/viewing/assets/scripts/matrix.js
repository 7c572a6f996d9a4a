// A pair as a matrix: a row for each source word, a column for each target word, signs where links are.
import { drawn } from "./dom.js";
import { frame, labelled, rightToLeft, sign, slot, widthOf } from "./marks.js";
import { keyOf, linkOf, verdict } from "./scores.js";

const CELL = 24;
const SLANT = 55; // degrees of the column's labels
const LONGEST = 200; // pixels of a label at most

function widest(words) {
  return Math.min(LONGEST, Math.max(20, ...words.slice(0, 2000).map(widthOf)));
}

// Draw `pair`: { source, target, layers: [{ links, k }], count, gold, cursor }. `over(i, j)` is called as the pointer
// moves (with null when it leaves), `click(i, j)` when a cell is clicked.
export function drawMatrix(pair, { over, click }) {
  const [rows, columns] = [pair.source.length, pair.target.length];
  const angle = (SLANT * Math.PI) / 180;
  const tallest = widest(pair.target);
  const left = Math.ceil(widest(pair.source)) + 26;
  const top = Math.ceil(tallest * Math.sin(angle)) + 26;
  const [width, height] = [columns * CELL, rows * CELL];
  const across = left + width + Math.ceil(tallest * Math.cos(angle)) + 8;
  const picture = drawn("svg", { width: across, height: top + height + 2, class: "matrix", role: "img" });

  const crossRow = drawn("rect", { class: "cross", x: 0, width: left + width, height: CELL, visibility: "hidden" });
  const crossColumn = drawn("rect", { class: "cross", y: top, width: CELL, height, visibility: "hidden" });
  const cursor = drawn("rect", { class: "cursor", width: CELL, height: CELL, visibility: "hidden" });
  let lines = "";
  for (let i = 0; i <= rows; i++) lines += `M${left} ${top + i * CELL + 0.5}h${width}`;
  for (let j = 0; j <= columns; j++) lines += `M${left + j * CELL + 0.5} ${top}v${height}`;
  picture.append(crossRow, crossColumn, drawn("path", { class: "grid", d: lines }));

  const turned = [rightToLeft(pair.source), rightToLeft(pair.target)];
  const rowLabels = pair.source.map((word, i) =>
    labelled(word, { x: left - 22, y: top + i * CELL + 17, "text-anchor": "end" }, turned[0]));
  const columnLabels = pair.target.map((word, j) => {
    const [x, y] = [left + j * CELL + CELL / 2 + 4, top - 17];
    return labelled(word, { x, y, transform: `rotate(${-SLANT} ${x} ${y})` }, turned[1]);
  });
  const numbers = [
    ...pair.source.map((_, i) => drawn("text", { class: "number", x: left - 4, y: top + i * CELL + 16, "text-anchor": "end" }, i)),
    ...pair.target.map((_, j) => drawn("text", { class: "number", x: left + j * CELL + CELL / 2, y: top - 4, "text-anchor": "middle" }, j)),
  ];
  picture.append(...rowLabels, ...columnLabels, ...numbers);

  const place = (key) => {
    const [i, j] = linkOf(key);
    return [left + j * CELL, top + i * CELL];
  };
  if (pair.gold) {
    for (const key of pair.gold.possible) picture.append(frame(pair.gold.sure.has(key), ...place(key), CELL));
  }
  for (const { links, k } of pair.layers) {
    const keys = new Set([...links.keys(), ...(pair.gold ? pair.gold.sure : [])]);
    for (const key of keys) {
      picture.append(sign(verdict(links, pair.gold, key), slot(k, pair.count, ...place(key), CELL), links.get(key)));
    }
  }
  picture.append(cursor);
  const board = drawn("rect", { class: "hit board", x: left, y: top, width, height });
  picture.append(board);

  let near = [];
  function point(i, j) {
    near.forEach((label) => label.classList.remove("near"));
    const shown = i === null ? "hidden" : "visible";
    for (const node of [crossRow, crossColumn]) node.setAttribute("visibility", shown);
    if (i === null) return;
    crossRow.setAttribute("y", top + i * CELL);
    crossColumn.setAttribute("x", left + j * CELL);
    near = [rowLabels[i], columnLabels[j]];
    near.forEach((label) => label.classList.add("near"));
  }
  function cellAt(event) {
    const box = board.getBoundingClientRect();
    const j = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const i = Math.floor(((event.clientY - box.top) / box.height) * rows);
    return i >= 0 && j >= 0 && i < rows && j < columns ? [i, j] : null;
  }
  board.addEventListener("pointermove", (event) => {
    const at = cellAt(event);
    if (!at) return;
    point(...at);
    over(...at);
  });
  board.addEventListener("pointerleave", () => {
    point(...(pair.cursor ?? [null, null]));
    over(...(pair.cursor ?? [null, null]));
  });
  board.addEventListener("click", (event) => {
    const at = cellAt(event);
    if (at) click(...at);
  });
  if (pair.cursor) {
    const [x, y] = place(keyOf(...pair.cursor));
    cursor.setAttribute("x", x);
    cursor.setAttribute("y", y);
    cursor.setAttribute("visibility", "visible");
    point(...pair.cursor);
  }
  return picture;
}
