// The page of trees of constituents: a list of sentences, and the tree of the one that is chosen.
import { data } from "./data.js";
import { byId, drawn, element, refill } from "./dom.js";
import { matcher } from "./filter.js";
import { keysOf, startKeys } from "./keys.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

const { labels, compared } = data;

// [[width, height], lines, labels, words, numbers of labels, wrong, missed, what is wrong]
const sentences = data.sentences.map((row, k) => ({
  number: k + 1, size: row[0], lines: row[1], labels: row[2], places: row[3], labelIds: row[4],
  words: row[3].map((place) => place[2]), wrong: row[5], missed: row[6], errors: row[5] + row[6], rows: row[7],
}));

const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const errorsOf = (s) => `${counted(s.wrong, "wrong constituent")}, ${s.missed} missed`;

const shows = {
  all: ["all", () => true],
  ...(compared && { wrong: ["any error", (s) => s.errors > 0], right: ["no error", (s) => s.errors === 0] }),
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

function drawTree(s) {
  const query = picked("query").trim();
  const svg = drawn("svg", { class: "tree", width: s.size[0], height: s.size[1], role: "img", "aria-label": `Tree of sentence ${s.number}` });
  for (const [kind, d] of s.lines) svg.append(drawn("path", { class: kind, d }));
  for (const [kind, x, y, text] of s.labels) svg.append(drawn("text", { class: kind, x, y }, text));
  for (const [x, y, word, tag] of s.places) {
    const found = query !== "" && matching.matches(word);
    svg.append(drawn("text", { class: found ? "form found" : "form", x, y }, word), drawn("text", { class: "tag", x, y: y + 15 }, tag));
  }
  return svg;
}

function show(s) {
  const errors = compared ? ` · ${errorsOf(s)}` : "";
  byId("which-one").textContent = `Sentence ${s.number} · ${counted(s.words.length, "word")}${errors}`;
  refill(byId("picture"), drawTree(s));
  byId("picture").scrollLeft = 0;
  refill(byId("wrongs"), compared ? wrongsOf(s) : null);
}

// What is wrong, as a table: for those who cannot see the picture, and to read off.
function wrongsOf(s) {
  if (!s.rows.length) return element("p", { class: "soft" }, "No error.");
  const rows = s.rows.map(([words, what, own, gold]) => element("tr", {},
    element("th", { scope: "row" }, element("bdi", {}, words)),
    element("td", {}, what), element("td", {}, element("bdi", {}, own)), element("td", {}, element("bdi", {}, gold))));
  const head = ["words", "what", "label", "in the gold"].map((text) => element("th", { scope: "col" }, text));
  return element("div", { class: "wide" }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

const list = virtualList({ host: byId("sentences"), height: 34, draw: rowOf, chosen: show, label: labelOf });

function refresh() {
  matching = matcher(picked("query"));
  byId("query").setAttribute("aria-invalid", matching.wrong ? "true" : "false");
  byId("query").title = matching.wrong;
  const relation = picked("relation") === "" ? -1 : Number(picked("relation"));
  const kept = shows[picked("which")][1];
  const found = sentences.filter((s) => kept(s) && (relation < 0 || s.labelIds.includes(relation)) && matching.matches(s.words.join(" ")));
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
for (const id of ["query", "relation", "which", "order"]) byId(id)?.addEventListener("input", refresh);
startKeys(keysOf(list));
refresh();
