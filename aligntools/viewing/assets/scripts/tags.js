// The page of tags: a confusion table whose cells choose sentences, and the sentences with their tags.
import { data } from "./data.js";
import { byId, element, refill } from "./dom.js";
import { matcher } from "./filter.js";
import { keysOf, startKeys } from "./keys.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

const { tags, meant, compared } = data;
const MOST = 5000; // words of a sentence that are shown

const sentences = data.sentences.map(([words, own, gold, errors], k) => ({ number: k + 1, words, own, gold, errors }));
const picked = (id) => (byId(id) && byId(id).value !== "" ? Number(byId(id).value) : -1);
let matching = matcher("");

function rowOf(s) {
  const count = !compared ? String(s.number) : s.errors ? `✗${s.errors}` : "✓";
  const words = s.words.length > 60 ? `${s.words.slice(0, 60).join(" ")} …` : s.words.join(" ");
  return [element("span", { class: s.errors ? "count at-fault" : "count" }, count), element("bdi", {}, words)];
}

// Whether a word of a sentence is one of those that are asked for.
function isAsked(s, k, tag, gold) {
  return (tag < 0 || s.own[k] === tag) && (gold < 0 || (s.gold && s.gold[k] === gold));
}

function show(s) {
  const [tag, gold] = [picked("tag"), picked("gold")];
  const query = byId("query").value.trim();
  const counted = compared ? ` · ${s.errors} wrong tag${s.errors === 1 ? "" : "s"}` : "";
  byId("which-one").textContent = `Sentence ${s.number} · ${s.words.length} words${counted}`;
  const tokens = s.words.slice(0, MOST).map((word, k) => {
    const wrong = s.gold && meant[s.own[k]] !== s.gold[k];
    const found = (query && matching.matches(word)) || ((tag >= 0 || gold >= 0) && isAsked(s, k, tag, gold));
    return element("span", { class: `token${wrong ? " wrong" : ""}${found ? " found" : ""}` },
      element("bdi", {}, word), element("span", { class: "tag" }, wrong ? `✗ ${tags[s.own[k]]}` : tags[s.own[k]]),
      wrong ? element("span", { class: "gold" }, tags[s.gold[k]]) : null);
  });
  refill(byId("sentence"), ...tokens, s.words.length > MOST ? element("p", { class: "soft" }, `and ${s.words.length - MOST} more`) : null);
}

const list = virtualList({ host: byId("sentences"), height: 34, draw: rowOf, chosen: show });

function refresh() {
  matching = matcher(byId("query").value);
  byId("query").setAttribute("aria-invalid", matching.wrong ? "true" : "false");
  byId("query").title = matching.wrong;
  const [tag, gold] = [picked("tag"), picked("gold")];
  const found = sentences.filter((s) => matching.matches(s.words.join(" ")) && (tag < 0 && gold < 0 ? true : s.own.some((_, k) => isAsked(s, k, tag, gold))));
  if (byId("order")?.value !== "file") found.sort((a, b) => b.errors - a.errors || a.number - b.number);
  byId("count").textContent = `${found.length} of ${sentences.length} sentences`;
  for (const cell of document.querySelectorAll("#confusion td[data-tag]")) {
    cell.setAttribute("aria-pressed", Number(cell.dataset.tag) === tag && Number(cell.dataset.gold) === gold ? "true" : "false");
  }
  list.show(found);
  if (!found.length) {
    byId("which-one").textContent = "No sentence";
    refill(byId("sentence"));
  } else if (list.at >= 0) show(list.items[list.at]);
}

// Cells of the confusion table are buttons that ask for their words.
function startTable() {
  const table = document.querySelector("#confusion table");
  if (!table) return;
  const place = new Map(tags.map((tag, k) => [tag, k]));
  const columns = [...table.querySelectorAll("thead th")].slice(1).map((cell) => place.get(cell.textContent));
  for (const row of table.querySelectorAll("tbody tr")) {
    const gold = place.get(row.querySelector("th").textContent);
    [...row.querySelectorAll("td")].forEach((cell, c) => {
      if (!cell.textContent) return;
      Object.assign(cell.dataset, { tag: columns[c], gold });
      cell.classList.toggle("wrong", meant[columns[c]] !== gold);
      cell.tabIndex = 0;
      cell.setAttribute("role", "button");
      cell.setAttribute("aria-label", `${cell.textContent} words, gold ${tags[gold]}, tagged ${tags[columns[c]]}`);
      const ask = () => {
        byId("tag").value = columns[c];
        byId("gold").value = gold;
        refresh();
      };
      cell.addEventListener("click", ask);
      cell.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        ask();
      });
    });
  }
}

startTheme();
const named = tags.map((tag, k) => [tag, k]).sort();
for (const id of ["tag", "gold"]) byId(id)?.append(...named.map(([tag, k]) => element("option", { value: k }, tag)));
for (const id of ["query", "tag", "gold", "order"]) byId(id)?.addEventListener("input", refresh);
byId("clear").addEventListener("click", () => {
  for (const id of ["query", "tag", "gold"]) if (byId(id)) byId(id).value = "";
  refresh();
});
startKeys(keysOf(list));
startTable();
refresh();
