// The page of alignments: the list of pairs, the chosen one, correcting. Each has a module; here they meet.
import { startChoosing } from "./choosing.js";
import { openCorrections } from "./corrections.js";
import { data } from "./data.js";
import { checks, drawFound, foundIn, markedText } from "./found.js";
import { byId, element, say } from "./dom.js";
import { download, upload } from "./download.js";
import { startKeys } from "./keys.js";
import { startPairView } from "./pair_view.js";
import { givenGold, linesOf, linksOf, systems, total, wordsOf } from "./pairs.js";
import { aer, keyOf } from "./scores.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

startTheme();
// Where there is little room, a narrow window or a notebook's frame, the summary is a line until it is asked for.
if (window.innerWidth < 480 || window.top !== window) byId("summary")?.removeAttribute("open");
const pairs = (count) => (count === 1 ? "1 pair" : `${count} pairs`);

// Gold links of a pair: the reader's own, or those that came with the page.
function goldOf(n) {
  const own = corrections.get(n);
  if (!own) return givenGold(n);
  const sure = new Set([...own.links].filter(([, kind]) => kind === "sure").map(([key]) => key));
  return { sure, possible: new Set(own.links.keys()) };
}

// What a pair's correction begins with: gold links, or those of the first system.
function startOf(n) {
  const gold = givenGold(n);
  if (gold) return new Map([...gold.possible].map((key) => [key, gold.sure.has(key) ? "sure" : "possible"]));
  return new Map(systems.length ? [...linksOf(0, n).keys()].map((key) => [key, "sure"]) : []);
}

function sizes(n) {
  if (!(n >= 0 && n < total)) return null;
  const { source, target } = wordsOf(n);
  return [source.length, target.length];
}

const corrections = openCorrections(data.key, sizes, () => {
  list.redraw();
  view.draw();
  showKept();
});
const view = startPairView({ goldOf, corrections, toggle: (n, i, j) => corrections.toggle(n, keyOf(i, j), () => startOf(n)) });

function drawRow(n) {
  const gold = goldOf(n);
  const scores = gold ? systems.map((_, k) => (100 * aer(linksOf(k, n), gold)).toFixed(0)) : [];
  const own = corrections.get(n);
  const found = foundIn(n);
  return [
    element("div", { class: "row-head" },
      element("span", {}, n + 1),
      scores.length ? element("span", { title: "AER of each system in percent" }, `AER ${scores.join(" · ")}`) : null,
      found ? element("span", { class: found.flagged ? "flagged" : "" }, `${found.flagged ? "⚑ flagged" : "passed"} ${found.score.toFixed(1)}`) : null,
      own ? element("span", { class: own.checked ? "done" : "" }, own.checked ? "✓ checked" : "changed") : null),
    element("div", { class: "row-text", dir: "auto" }, ...markedText(n, "source", 300)),
    element("div", { class: "row-text", dir: "auto" }, ...markedText(n, "target", 300)),
  ];
}

function choose(n) {
  view.choose(n);
  drawFound(n);
  try {
    history.replaceState(null, "", `#${n + 1}`);
  } catch {
    // a frame without an address
  }
}

const list = virtualList({
  host: byId("pairs"),
  height: 68,
  draw: drawRow,
  chosen: choose,
  label: (n) => `Pair ${n + 1}: ${linesOf(n).map((line) => line.slice(0, 120)).join(" – ")}`,
});

function showKept() {
  const { size, checked } = corrections;
  const where = corrections.kept ? "They are kept in this browser." : "This browser keeps nothing here: save them before you leave.";
  byId("kept").textContent = size ? `${pairs(checked)} checked, ${pairs(size - checked)} changed and not checked. ${where}` : "None yet. Press e to correct the links of a pair, c when it is checked.";
  byId("save").disabled = !checked;
  byId("forget").disabled = !size;
}

function save() {
  if (!corrections.checked) return false;
  download("checked.gold", corrections.asText());
  say(`${pairs(corrections.checked)} saved`);
  return true;
}
function check() {
  corrections.check(view.n, () => startOf(view.n));
  say(corrections.get(view.n).checked ? "Checked" : "Not checked");
}
function undo() {
  const n = corrections.undo();
  const at = list.items.indexOf(n);
  if (at >= 0 && n !== view.n) list.select(at);
}

byId("checked").addEventListener("click", check);
byId("undo").addEventListener("click", undo);
byId("clear").addEventListener("click", () => corrections.clear(view.n));
byId("reset").addEventListener("click", () => corrections.reset(view.n));
byId("save").addEventListener("click", save);
byId("forget").addEventListener("click", () => {
  if (window.confirm("Forget all gold links made here?")) corrections.forget();
});
upload(byId("load"), (text, name) => {
  const problem = byId("load-problem");
  try {
    problem.textContent = "";
    say(`${pairs(corrections.load(text))} read from ${name}`);
  } catch (error) {
    problem.textContent = `${name}: ${error.message}`;
  }
});

const { refresh, flip: flipShown } = startChoosing({ goldOf, hasGold: data.gold !== null || corrections.size > 0, corrections, show: (numbers) => {
  list.show(numbers);
  if (!numbers.length) {
    view.choose(null);
    drawFound(null);
  }
  else if (!numbers.includes(view.n)) list.select(0);
} });

startKeys([
  { keys: ["j"], shown: "j, ↓", does: "next pair", run: () => list.move(1) },
  { keys: ["k"], shown: "k, ↑", does: "pair before", run: () => list.move(-1) },
  { keys: ["ArrowDown"], shown: "arrows", does: "pairs; while correcting, the cell", run: () => view.step(1, 0) || list.move(1) },
  { keys: ["ArrowUp"], shown: "", does: "", run: () => view.step(-1, 0) || list.move(-1) },
  { keys: ["ArrowLeft"], shown: "", does: "", run: () => view.step(0, -1) },
  { keys: ["ArrowRight"], shown: "", does: "", run: () => view.step(0, 1) },
  { keys: ["PageDown"], shown: "PgUp, PgDn", does: "a screen of pairs", run: () => list.move(list.pageLength()) },
  { keys: ["PageUp"], shown: "", does: "", run: () => list.move(-list.pageLength()) },
  { keys: ["Home"], shown: "Home, End", does: "first, last pair", run: () => list.select(0) },
  { keys: ["End"], shown: "", does: "", run: () => list.select(list.items.length - 1) },
  { keys: ["/"], shown: "/", does: "search; Esc goes back", run: () => byId("query").focus() },
  { keys: ["m"], shown: "m", does: "matrix or ribbon", run: view.flipForm },
  ...(systems.length > 1 ? [{ keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], shown: "1 … 9", does: "show or hide a system", run: (event) => view.flip(Number(event.key) - 1) }] : []),
  { keys: ["g"], shown: "g", does: "show or hide gold links", run: view.flipGold },
  ...(checks ? [{ keys: ["f"], shown: "f", does: "flagged pairs alone, or all", run: () => flipShown("flagged") }] : []),
  { keys: ["e"], shown: "e", does: "correct links, or stop correcting", run: view.flipEditing },
  { keys: [" ", "Enter"], shown: "space, Enter", does: "while correcting: none, sure, possible", run: (event) => !event.target.closest("button, a, summary") && view.press() },
  { keys: ["x"], shown: "x", does: "while correcting: remove all links of the pair", run: () => view.editing && corrections.clear(view.n) },
  { keys: ["c"], shown: "c", does: "the pair is checked, or not", run: check },
  { keys: ["u"], shown: "u", does: "undo", run: undo },
  { keys: ["s"], shown: "s", does: "save the gold links of checked pairs", run: save },
]);

refresh();
const asked = Number(location.hash.slice(1)) - 1;
if (asked > 0 && asked < total) list.select(asked);
if (corrections.size) {
  byId("restored").hidden = false;
  byId("restored").textContent = `Restored from this browser: ${pairs(corrections.size)}, ${corrections.checked} of them checked.`;
}
showKept();
performance.mark("shown");
