// Which pairs the list shows, and in which order.
import { byId, element } from "./dom.js";
import { matcher } from "./filter.js";
import { checks, foundIn } from "./found.js";
import { linksOf, systems, textOf, total, wordsOf } from "./pairs.js";
import { aer, confidence, disagreement } from "./scores.js";

// The largest error of the systems on a pair; -1 where it has no gold.
function errorOf(n, goldOf) {
  const gold = goldOf(n);
  return gold && systems.length ? Math.max(...systems.map((_, k) => aer(linksOf(k, n), gold))) : -1;
}

function allLinks(n) {
  return systems.map((_, k) => linksOf(k, n));
}

function lowestConfidence(n) {
  const found = allLinks(n).map(confidence).filter((p) => p !== null);
  return found.length ? Math.min(...found) : 2;
}

function lengthOf(n) {
  const { source, target } = wordsOf(n);
  return source.length + target.length;
}

// Set the search form up. `goldOf(n)` and `corrections` say what is known of a pair; `show(numbers)` gets the list.
export function startChoosing({ goldOf, hasGold, corrections, show }) {
  const several = systems.length > 1;
  const orders = [
    ["text", "order of the text", null],
    hasGold && systems.length && ["error", "error, most first", (n) => -errorOf(n, goldOf)],
    checks && ["score", "score of the check, highest first", (n) => -(foundIn(n)?.score ?? -1)],
    several && ["disagreement", "disagreement, most first", (n) => -disagreement(allLinks(n))],
    systems.some((system) => system.scored) && ["confidence", "confidence, least first", lowestConfidence],
    ["long", "length, longest first", (n) => -lengthOf(n)],
    ["short", "length, shortest first", lengthOf],
  ].filter((order) => order);
  const kinds = [
    ["all", "all pairs", () => true],
    hasGold && systems.length && ["errors", "with errors", (n) => errorOf(n, goldOf) > 0],
    hasGold && ["gold", "with gold", (n) => goldOf(n) !== null],
    several && ["differ", "where systems differ", (n) => disagreement(allLinks(n)) > 0],
    checks && ["flagged", "flagged", (n) => Boolean(foundIn(n)?.flagged)],
    ["checked", "checked", (n) => Boolean(corrections.get(n)?.checked)],
    ["unchecked", "not checked", (n) => !corrections.get(n)?.checked],
  ].filter((kind) => kind);
  const [query, sort, kind] = ["query", "sort", "show"].map(byId);
  const fill = (select, rows) => select.replaceChildren(...rows.map(([value, text]) => element("option", { value }, text)));
  fill(sort, orders);
  fill(kind, kinds);

  function refresh() {
    const { matches, wrong } = matcher(query.value);
    const fits = kinds.find(([name]) => name === kind.value)[2];
    const by = orders.find(([name]) => name === sort.value)[2];
    const all = query.value.trim() !== "";
    let numbers = [];
    for (let n = 0; n < total; n++) if ((!all || matches(textOf(n))) && fits(n)) numbers.push(n);
    if (by) {
      const values = new Map(numbers.map((n) => [n, by(n)]));
      numbers.sort((a, b) => values.get(a) - values.get(b) || a - b);
    }
    query.setAttribute("aria-invalid", wrong ? "true" : "false");
    byId("query-problem").textContent = wrong;
    byId("count").textContent = numbers.length === total ? `${total} pairs` : `${numbers.length} of ${total} pairs`;
    show(numbers);
  }
  for (const [node, event] of [[query, "input"], [sort, "change"], [kind, "change"]]) node.addEventListener(event, refresh);
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("pairs").focus();
  });
  query.addEventListener("keydown", (event) => {
    if (event.key === "Escape") byId("pairs").focus();
  });
  // Show pairs of one kind alone, or all again.
  function flip(name) {
    kind.value = kind.value === name ? "all" : name;
    refresh();
  }
  return { refresh, flip };
}
