// The page of a model: words to search in, with their best translations or tags.
import { data } from "./data.js";
import { byId, drawn, element, refill } from "./dom.js";
import { matcher } from "./filter.js";
import { startKeys } from "./keys.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

const { strings, lists } = data;

function startWords() {
  let side = 0;
  const places = lists.map((each) => new Map(each.words.map((word, k) => [word, k])));
  const list = virtualList({ host: byId("words"), height: 34, draw: rowOf, chosen: show });
  const items = lists.map((each) => each.words.map((word, k) => ({ word, k, text: strings[word] })));

  function rowOf({ k, text }) {
    const count = lists[side].counts ? element("span", { class: "count" }, lists[side].counts[k].toLocaleString("en")) : null;
    return [count, element("bdi", {}, text)];
  }

  function bar(share) {
    return drawn("svg", { class: "bar", width: 120, height: 10, "aria-hidden": "true" }, drawn("rect", { width: Math.max(1, 120 * share), height: 10 }));
  }

  // The name of another word; a button where it has a place of its own.
  function nameOf(word) {
    const { linked } = lists[side];
    const text = element("bdi", {}, strings[word]);
    if (linked === null || !places[linked].has(word)) return text;
    return element("button", { type: "button", click: () => go(linked, places[linked].get(word)) }, text);
  }

  function tableOf(head, rows) {
    const names = head.map((name) => element("th", { scope: "col" }, name));
    return element("div", { class: "wide" }, element("table", {}, element("thead", {}, element("tr", {}, ...names)), element("tbody", {}, ...rows)));
  }

  function rowWith(name, share) {
    return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, share.toFixed(4)), element("td", {}, bar(share)));
  }

  function show({ k, text }) {
    const { rows, shares, counts, other } = lists[side];
    const others = [];
    for (let i = 0; i < rows[k].length; i += 2) others.push(rowWith(nameOf(rows[k][i]), rows[k][i + 1]));
    const parts = [element("h3", {}, element("bdi", {}, text)), counts ? element("p", { class: "soft" }, `${counts[k].toLocaleString("en")} links expected in the training text`) : null];
    parts.push(tableOf([other, "probability", ""], others));
    if (shares) {
      const fertilities = shares[k].map((share, n) => rowWith(n === shares[k].length - 1 ? `${n} and more` : String(n), share));
      parts.push(tableOf(["words linked to it", "share", ""], fertilities.filter((row, n) => shares[k][n] >= 0.005)));
    }
    refill(byId("word"), ...parts);
  }

  function refresh() {
    const { matches, wrong } = matcher(byId("query").value);
    byId("query").setAttribute("aria-invalid", wrong ? "true" : "false");
    byId("query").title = wrong;
    const found = items[side].filter((item) => matches(item.text));
    byId("count").textContent = `${found.length} of ${items[side].length} words`;
    list.show(found);
    if (!found.length) refill(byId("word"), element("p", { class: "soft" }, "No such word among those that the page has."));
  }

  function go(other, k) {
    side = other;
    byId("side").value = String(other);
    byId("query").value = "";
    refresh();
    list.select(k);
  }

  byId("side").append(...lists.map((each, k) => element("option", { value: k }, each.name)));
  byId("side").addEventListener("input", () => {
    side = Number(byId("side").value);
    refresh();
    if (list.items.length) list.select(0);
  });
  byId("query").addEventListener("input", refresh);
  refresh();
  return list;
}

startTheme();
const list = lists.length ? startWords() : null;
startKeys(list ? [
  { keys: ["j", "ArrowDown"], shown: "j, ↓", does: "next word", run: () => list.move(1) },
  { keys: ["k", "ArrowUp"], shown: "k, ↑", does: "word before", run: () => list.move(-1) },
  { keys: ["/"], shown: "/", does: "search a word", run: () => byId("query").focus() },
] : []);
