// What both pages of trees share: a list of sentences, and the trees and errors of the one that is chosen.
import { data } from "./data.js";
import { byId, element, refill } from "./dom.js";
import { matcher } from "./filter.js";
import { keysOf, startKeys } from "./keys.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

const { labels, compared } = data;
const orders = {
  ...(compared && {
    errors: ["most errors", (a, b) => b.errors - a.errors],
    share: ["most errors a word", (a, b) => b.errors / (b.words.length || 1) - a.errors / (a.words.length || 1)],
  }),
  file: ["as in the file", (a, b) => a.number - b.number],
  long: ["longest", (a, b) => b.words.length - a.words.length],
  short: ["shortest", (a, b) => a.words.length - b.words.length],
};

export const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
export const picked = (id) => byId(id)?.value ?? "";

// Start the page. `sentences` have a number, words and errors; `shows` are choices of them, by name a title and a test.
// Of a sentence: `errorsOf` counts its errors in words, `moreOf` says what else there is, `has` tests for a label,
// `draw` gives its pictures, where `marked` tests whether the query finds a word, and `wrongsOf` gives rows of the table
// of errors, below `titles`.
export function startTrees({ sentences, shows, errorsOf, moreOf, has, draw, wrongsOf, titles }) {
  let matching = matcher("");

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
    const errors = compared ? ` · ${errorsOf(s)}` : "";
    byId("which-one").textContent = `Sentence ${s.number} · ${counted(s.words.length, "word")}${errors}${moreOf(s)}`;
    const query = picked("query").trim();
    refill(byId("picture"), ...draw(s, (word) => query !== "" && matching.matches(word)));
    byId("picture").scrollLeft = 0;
    refill(byId("wrongs"), compared ? tableOf(wrongsOf(s)) : null);
  }

  // What is wrong, as a table: for those who cannot see the picture, and to read off.
  function tableOf(rows) {
    if (!rows.length) return element("p", { class: "soft" }, "No error.");
    const head = titles.map((text) => element("th", { scope: "col" }, text));
    const body = rows.map(([words, what, own, gold]) => element("tr", {},
      element("th", { scope: "row" }, element("bdi", {}, words)), element("td", {}, what),
      element("td", {}, element("bdi", {}, own)), element("td", {}, element("bdi", {}, gold))));
    return element("div", { class: "wide" }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
  }

  const list = virtualList({ host: byId("sentences"), height: 34, draw: rowOf, chosen: show, label: labelOf });

  function refresh() {
    matching = matcher(picked("query"));
    byId("query").setAttribute("aria-invalid", matching.wrong ? "true" : "false");
    byId("query").title = matching.wrong;
    const label = picked("relation") === "" ? -1 : Number(picked("relation"));
    const kept = shows[picked("which")][1];
    const found = sentences.filter((s) => kept(s) && (label < 0 || has(s, label)) && matching.matches(s.words.join(" ")));
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
}
