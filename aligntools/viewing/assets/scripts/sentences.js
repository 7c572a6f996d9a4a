// The page of two documents: groups of sentences side by side, doubtful ones first, with keys that correct them.
import { data } from "./data.js";
import { byId, element, refill, say } from "./dom.js";
import { download } from "./download.js";
import { matcher } from "./filter.js";
import { keysOf, startKeys } from "./keys.js";
import { openStore } from "./store.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

const { sides, name } = data;
const AROUND = 3; // groups before and behind the chosen one that are shown
const MOST = 2000; // characters of a sentence that are shown
const DOUBTFUL = 0.5;
const store = openStore(name);
const made = ([source, target, score, done = false]) => ({ source, target, score, done });
let groups = (store.read() ?? data.groups).map(made);
const undone = []; // what groups were before each change: [place, how many there are now, what was there]
let chosen = null;

const textOf = (side, own) => own.map((k) => sides[side][k]).join(" ");
const wholeText = (g) => `${textOf(0, g.source)} ${textOf(1, g.target)}`;
const isAlone = (g) => !g.source.length || !g.target.length;
// What has no partner is in doubt by itself: as much as its score, which says that it has none, leaves open.
const signOf = (g) => (g.done ? "✓" : g.score < DOUBTFUL ? "?" : " ");
const classOf = (g) => (g.done ? "done" : g.score < DOUBTFUL ? "doubtful" : "");

function rowOf(g) {
  const head = `${signOf(g)} ${g.source.length}-${g.target.length} ${g.score.toFixed(2)}`;
  return [element("span", { class: `count ${classOf(g)}` }, head), element("bdi", {}, textOf(g.source.length ? 0 : 1, g.source.length ? g.source : g.target).slice(0, 200))];
}

function cellOf(side, own) {
  if (!own.length) return element("td", { class: "nothing" }, "—");
  return element("td", { dir: "auto" }, ...own.map((k) => element("p", {}, element("span", { class: "soft" }, `${k + 1} `), element("bdi", {}, sides[side][k].slice(0, MOST)))));
}

function show(g) {
  chosen = g;
  const at = groups.indexOf(g);
  byId("which-one").textContent = `Group ${at + 1} of ${groups.length}`;
  const rows = [];
  for (let k = Math.max(0, at - AROUND); k < Math.min(groups.length, at + AROUND + 1); k++) {
    const one = groups[k];
    const row = element("tr", { "aria-current": k === at ? "true" : null, click: () => choose(one) },
      element("td", { class: classOf(one) }, `${signOf(one)} ${one.score.toFixed(2)}`), cellOf(0, one.source), cellOf(1, one.target));
    rows.push(row);
  }
  refill(byId("around"), ...rows);
}

const list = virtualList({ host: byId("groups"), height: 34, draw: rowOf, chosen: show });

// Choose a group; where the list does not have it, all groups are listed.
function choose(g) {
  if (!list.items.includes(g)) {
    byId("query").value = "";
    byId("which").value = "all";
    refresh();
  }
  list.select(list.items.indexOf(g));
}

const KINDS = {
  all: () => true, alone: isAlone, done: (g) => g.done, open: (g) => !g.done,
  several: (g) => g.source.length > 1 || g.target.length > 1,
};

function refresh() {
  const matching = matcher(byId("query").value);
  byId("query").setAttribute("aria-invalid", matching.wrong ? "true" : "false");
  byId("query").title = matching.wrong;
  const wanted = KINDS[byId("which").value];
  const places = new Map(groups.map((g, k) => [g, k]));
  const found = groups.filter((g) => wanted(g) && matching.matches(wholeText(g)));
  if (byId("order").value === "doubt") found.sort((a, b) => a.done - b.done || a.score - b.score || places.get(a) - places.get(b));
  byId("count").textContent = `${found.length} of ${groups.length} groups, ${groups.filter((g) => g.done).length} corrected or checked`;
  byId("undo").disabled = !undone.length;
  list.show(found);
  if (!found.length) {
    byId("which-one").textContent = "No group";
    refill(byId("around"));
    chosen = null;
  } else if (list.at >= 0) show(list.items[list.at]);
}

function keep() {
  if (!store.write(groups.map((g) => [g.source, g.target, g.score, g.done]))) say("The browser keeps nothing: save the ladder.");
}

// Put others in the place of some groups, and choose one of them.
function change(at, count, others, pick = 0) {
  const now = others.filter((g) => g.source.length || g.target.length);
  undone.push([at, now.length, groups.splice(at, count, ...now)]);
  keep();
  follow(now[Math.min(pick, now.length - 1)]);
}

function follow(g) {
  const order = list.items.indexOf(chosen);
  refresh();
  if (!g) return;
  if (list.items.includes(g)) list.select(list.items.indexOf(g));
  else if (list.items.length) list.select(Math.min(Math.max(order, 0), list.items.length - 1));
  show(g);
}

const corrected = (source, target) => ({ source, target, score: 1, done: true });

const CHANGES = {
  m(at, g, next) {
    if (next) change(at, 2, [corrected([...g.source, ...next.source], [...g.target, ...next.target])]);
  },
  // The last sentences of both sides become a group of their own; two sentences part.
  x(at, g) {
    const [a, b] = [g.source.length, g.target.length];
    if (a + b < 2) return;
    const [i, j] = a === 1 && b === 1 ? [1, 0] : [a > 1 ? a - 1 : a, b > 1 ? b - 1 : b];
    change(at, 1, [corrected(g.source.slice(0, i), g.target.slice(0, j)), corrected(g.source.slice(i), g.target.slice(j))]);
  },
  d: (at, g, next) => border(at, g, next, "source", true),
  a: (at, g, next) => border(at, g, next, "source", false),
  l: (at, g, next) => border(at, g, next, "target", true),
  h: (at, g, next) => border(at, g, next, "target", false),
  c: (at, g) => change(at, 1, [{ ...g, done: !g.done }]),
};

// Give the last sentence of a side to the next group, or take its first one.
function border(at, g, next, side, gives) {
  const other = next ?? { source: [], target: [] };
  if (!(gives ? g : other)[side].length || (gives && !next && g[side].length + g[side === "source" ? "target" : "source"].length < 2)) return;
  const [one, two] = [corrected(g.source, g.target), corrected(other.source, other.target)];
  const own = [...g[side], ...other[side]];
  const cut = g[side].length + (gives ? -1 : 1);
  one[side] = own.slice(0, cut);
  two[side] = own.slice(cut);
  change(at, next ? 2 : 1, [one, two]);
}

function act(key) {
  const at = groups.indexOf(chosen);
  if (at >= 0) CHANGES[key](at, chosen, groups[at + 1]);
}

function undo() {
  if (!undone.length) return;
  const [at, count, before] = undone.pop();
  groups.splice(at, count, ...before);
  keep();
  follow(before[0]);
}

function save() {
  const numbers = (own) => `[${own.join(", ")}]`;
  download("corrected.ladder", groups.map((g) => `${numbers(g.source)}:${numbers(g.target)}:${g.score.toFixed(4)}\n`).join(""));
}

startTheme();
for (const id of ["query", "which", "order"]) byId(id).addEventListener("input", refresh);
for (const button of document.querySelectorAll("#changes button")) button.addEventListener("click", () => act(button.dataset.key));
byId("undo").addEventListener("click", undo);
byId("save").addEventListener("click", save);
startKeys([
  ...keysOf(list).map((one) => ({ ...one, does: one.does.replace("sentence", "group") })),
  { keys: ["m"], shown: "m", does: "join with the next group", run: () => act("m") },
  { keys: ["x"], shown: "x", does: "split: the last sentences become a group", run: () => act("x") },
  { keys: ["d"], shown: "d", does: "give the last source sentence to the next group", run: () => act("d") },
  { keys: ["a"], shown: "a", does: "take the first source sentence of the next group", run: () => act("a") },
  { keys: ["l"], shown: "l", does: "give the last target sentence to the next group", run: () => act("l") },
  { keys: ["h"], shown: "h", does: "take the first target sentence of the next group", run: () => act("h") },
  { keys: ["c"], shown: "c", does: "the group is right, or not yet", run: () => act("c") },
  { keys: ["u"], shown: "u", does: "undo", run: undo },
  { keys: ["s"], shown: "s", does: "save the ladder", run: save },
]);
refresh();
