// The page of dependency trees: a list of sentences, and the tree of the one that is chosen.
import { data } from "./data.js";
import { byId, element, refill } from "./dom.js";
import { matcher } from "./filter.js";
import { keysOf, startKeys } from "./keys.js";
import { startTheme } from "./theme.js";
import { drawTree } from "./tree-drawing.js";
import { virtualList } from "./virtual.js";

const { labels, tags, compared } = data;
const named = (ids) => ids && ids.map((k) => labels[k]);

// [words, tags, heads, labels, gold heads, gold labels, wrong heads, wrong labels, crossings]
const sentences = data.sentences.map((row, k) => ({
  number: k + 1, words: row[0], tagIds: row[1], heads: row[2], labelIds: row[3], goldHeads: row[4], goldIds: row[5],
  wrongHeads: row[6], wrongLabels: row[7], crossings: row[8], errors: row[6] + row[7],
}));

const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const errorsOf = (s) => `${counted(s.wrongHeads, "wrong head")}, ${counted(s.wrongLabels, "wrong label")}`;

function treeOf(s) {
  return {
    words: s.words, tags: s.tagIds && s.tagIds.map((k) => tags[k]), heads: s.heads, labels: named(s.labelIds),
    goldHeads: s.goldHeads, goldLabels: named(s.goldIds),
  };
}

const shows = {
  all: ["all", () => true],
  ...(compared && {
    wrong: ["any error", (s) => s.errors > 0],
    heads: ["wrong heads", (s) => s.wrongHeads > 0],
    labels: ["wrong labels", (s) => s.wrongLabels > 0],
    right: ["no error", (s) => s.errors === 0],
  }),
  crossing: ["crossing edges", (s) => s.crossings > 0],
};
const orders = {
  ...(compared && {
    errors: ["most errors", (a, b) => b.errors - a.errors],
    share: ["most errors a word", (a, b) => b.errors / (b.words.length || 1) - a.errors / (a.words.length || 1)],
  }),
  file: ["as in the file", (a, b) => a.number - b.number],
  long: ["longest", (a, b) => b.words.length - a.words.length],
  short: ["shortest", (a, b) => a.words.length - b.words.length],
};

let matching = matcher("");
const picked = (id) => byId(id)?.value ?? "";

function rowOf(s) {
  const count = !compared ? String(s.number) : s.errors ? `✗${s.errors}` : "✓";
  return [
    element("span", { class: s.errors ? "count at-fault" : "count" }, count),
    element("bdi", {}, s.words.length > 60 ? `${s.words.slice(0, 60).join(" ")} …` : s.words.join(" ")),
  ];
}

function labelOf(s) {
  const errors = compared ? `, ${errorsOf(s)}` : "";
  return `sentence ${s.number}${errors}: ${s.words.slice(0, 60).join(" ")}`;
}

function show(s) {
  const tree = treeOf(s);
  const crossing = s.crossings ? ` · ${counted(s.crossings, "crossing")}` : "";
  const errors = compared ? ` · ${errorsOf(s)}` : "";
  byId("which-one").textContent = `Sentence ${s.number} · ${counted(s.words.length, "word")}${errors}${crossing}`;
  const below = picked("below");
  const query = picked("query").trim();
  const marked = (k) => query !== "" && matching.matches(s.words[k]);
  const pictures = [drawTree(tree, { below: below === "apart" ? "" : below, name: `Tree of sentence ${s.number}`, marked })];
  if (below === "apart" && s.goldHeads) {
    const gold = { words: s.words, tags: tree.tags, heads: s.goldHeads, labels: tree.goldLabels };
    pictures.push(drawTree(gold, { name: `Gold tree of sentence ${s.number}`, marked }));
  }
  refill(byId("picture"), ...pictures);
  byId("picture").scrollLeft = 0;
  refill(byId("wrongs"), compared ? wrongsOf(s, tree) : null);
}

// What is wrong, as a table: for those who cannot see the picture, and to read off.
function wrongsOf(s, tree) {
  const rows = [];
  const name = (head) => (head > 0 ? `${head} ${s.words[head - 1]}` : head === 0 ? "root" : "none");
  const end = (head, names, k) => `${name(head)}${names ? ` (${names[k]})` : ""}`;
  s.heads.forEach((head, k) => {
    const wrongHead = head !== s.goldHeads[k];
    const wrongLabel = tree.labels && tree.goldLabels && tree.labels[k] !== tree.goldLabels[k];
    if (!wrongHead && !wrongLabel) return;
    rows.push(element("tr", {},
      element("th", { scope: "row" }, element("bdi", {}, `${k + 1} ${s.words[k]}`)),
      element("td", {}, wrongHead ? "✗ head" : "◇ label"),
      element("td", {}, element("bdi", {}, end(head, tree.labels, k))),
      element("td", {}, element("bdi", {}, end(s.goldHeads[k], tree.goldLabels, k)))));
  });
  if (!rows.length) return element("p", { class: "soft" }, "No error.");
  const head = ["word", "wrong", "under", "in the gold"].map((text) => element("th", { scope: "col" }, text));
  return element("div", { class: "wide" }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

const list = virtualList({ host: byId("sentences"), height: 34, draw: rowOf, chosen: show, label: labelOf });

function refresh() {
  matching = matcher(picked("query"));
  byId("query").setAttribute("aria-invalid", matching.wrong ? "true" : "false");
  byId("query").title = matching.wrong;
  const relation = picked("relation") === "" ? -1 : Number(picked("relation"));
  const kept = shows[picked("which")][1];
  const found = sentences.filter((s) => kept(s)
    && (relation < 0 || (s.labelIds && s.labelIds.includes(relation)) || (s.goldIds && s.goldIds.includes(relation)))
    && matching.matches(s.words.join(" ")));
  found.sort((a, b) => orders[picked("order")][1](a, b) || a.number - b.number);
  byId("count").textContent = `${found.length} of ${sentences.length} sentences`;
  list.show(found);
  if (!found.length) {
    byId("which-one").textContent = "No sentence";
    refill(byId("picture"));
    refill(byId("wrongs"));
  } else if (list.at >= 0) show(list.items[list.at]);
}

const options = (table) => Object.entries(table).map(([value, [text]]) => element("option", { value }, text));
startTheme();
refill(byId("which"), ...options(shows));
refill(byId("order"), ...options(orders));
byId("relation").append(...labels.map((name, k) => [name, k]).sort().map(([name, k]) => element("option", { value: k }, name)));
for (const id of ["query", "relation", "which", "order", "below"]) byId(id)?.addEventListener("input", refresh);
startKeys(keysOf(list));
refresh();
