// The page of dependency trees.
import { data } from "./data.js";
import { drawTree } from "./tree-drawing.js";
import { counted, picked, startTrees } from "./tree-list.js";

const { labels, tags } = data;
const named = (ids) => ids && ids.map((k) => labels[k]);

// [words, tags, heads, labels, gold heads, gold labels, wrong heads, wrong labels, crossings]
const sentences = data.sentences.map((row, k) => ({
  number: k + 1, words: row[0], tagIds: row[1], heads: row[2], labelIds: row[3], goldHeads: row[4], goldIds: row[5],
  wrongHeads: row[6], wrongLabels: row[7], crossings: row[8], errors: row[6] + row[7],
}));

function treeOf(s) {
  return {
    words: s.words, tags: s.tagIds && s.tagIds.map((k) => tags[k]), heads: s.heads, labels: named(s.labelIds),
    goldHeads: s.goldHeads, goldLabels: named(s.goldIds),
  };
}

function draw(s, found) {
  const tree = treeOf(s);
  const below = picked("below");
  const marked = (k) => found(s.words[k]);
  const pictures = [drawTree(tree, { below: below === "apart" ? "" : below, name: `Tree of sentence ${s.number}`, marked })];
  if (below === "apart" && s.goldHeads) {
    const gold = { words: s.words, tags: tree.tags, heads: s.goldHeads, labels: tree.goldLabels };
    pictures.push(drawTree(gold, { name: `Gold tree of sentence ${s.number}`, marked }));
  }
  return pictures;
}

function wrongsOf(s) {
  const tree = treeOf(s);
  const rows = [];
  const name = (head) => (head > 0 ? `${head} ${s.words[head - 1]}` : head === 0 ? "root" : "none");
  const end = (head, names, k) => `${name(head)}${names ? ` (${names[k]})` : ""}`;
  s.heads.forEach((head, k) => {
    const wrongHead = head !== s.goldHeads[k];
    const wrongLabel = tree.labels && tree.goldLabels && tree.labels[k] !== tree.goldLabels[k];
    if (!wrongHead && !wrongLabel) return;
    const what = wrongHead ? "✗ head" : "◇ label";
    rows.push([`${k + 1} ${s.words[k]}`, what, end(head, tree.labels, k), end(s.goldHeads[k], tree.goldLabels, k)]);
  });
  return rows;
}

startTrees({
  sentences,
  shows: {
    all: ["all", () => true],
    ...(data.compared && {
      wrong: ["any error", (s) => s.errors > 0],
      heads: ["wrong heads", (s) => s.wrongHeads > 0],
      labels: ["wrong labels", (s) => s.wrongLabels > 0],
      right: ["no error", (s) => s.errors === 0],
    }),
    crossing: ["crossing edges", (s) => s.crossings > 0],
  },
  errorsOf: (s) => `${counted(s.wrongHeads, "wrong head")}, ${counted(s.wrongLabels, "wrong label")}`,
  moreOf: (s) => (s.crossings ? ` · ${counted(s.crossings, "crossing")}` : ""),
  has: (s, label) => [s.labelIds, s.goldIds].some((ids) => ids && ids.includes(label)),
  draw,
  wrongsOf,
  titles: ["word", "wrong", "under", "in the gold"],
});
