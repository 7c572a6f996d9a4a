// The page of trees of constituents.
import { data } from "./data.js";
import { drawn } from "./dom.js";
import { counted, startTrees } from "./tree-list.js";

// [[width, height], lines, labels, words, numbers of labels, wrong, missed, what is wrong]
const sentences = data.sentences.map((row, k) => ({
  number: k + 1, size: row[0], lines: row[1], labels: row[2], places: row[3], labelIds: row[4],
  words: row[3].map((place) => place[2]), wrong: row[5], missed: row[6], errors: row[5] + row[6], rows: row[7],
}));

function drawTree(s, marked) {
  const svg = drawn("svg", { class: "tree", width: s.size[0], height: s.size[1], role: "img", "aria-label": `Tree of sentence ${s.number}` });
  for (const [kind, d] of s.lines) svg.append(drawn("path", { class: kind, d }));
  for (const [kind, x, y, text] of s.labels) svg.append(drawn("text", { class: kind, x, y }, text));
  for (const [x, y, word, tag] of s.places) {
    svg.append(drawn("text", { class: marked(word) ? "form found" : "form", x, y }, word), drawn("text", { class: "tag", x, y: y + 15 }, tag));
  }
  return svg;
}

startTrees({
  sentences,
  shows: {
    all: ["all", () => true],
    ...(data.compared && { wrong: ["any error", (s) => s.errors > 0], right: ["no error", (s) => s.errors === 0] }),
  },
  errorsOf: (s) => `${counted(s.wrong, "wrong constituent")}, ${s.missed} missed`,
  moreOf: () => "",
  has: (s, label) => s.labelIds.includes(label),
  draw: (s, marked) => [drawTree(s, marked)],
  wrongsOf: (s) => s.rows,
  titles: ["words", "what", "label", "in the gold"],
});
