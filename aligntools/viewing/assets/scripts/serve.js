// The page of a service: two sentences, and their links as they change.
import { byId, element, refill, say } from "./dom.js";
import { startKeys } from "./keys.js";
import { drawMatrix } from "./matrix.js";
import { drawRibbon } from "./ribbon.js";
import { keyOf } from "./scores.js";
import { openStore } from "./store.js";
import { startTheme } from "./theme.js";

const WAIT = 200; // milliseconds after the last change
const MOST = 300; // words of a side that are drawn
const memory = openStore("serve");
const state = { ribbon: memory.read() !== "matrix", asked: 0, timer: 0, found: null };
const apart = (word) => `\u2068${word}\u2069`; // whichever way it runs, it turns nothing around it

function draw() {
  byId("form").textContent = state.ribbon ? "Matrix" : "Ribbon";
  const { found } = state;
  if (!found) {
    refill(byId("drawing"));
    refill(byId("links"));
    byId("at").textContent = "";
    return;
  }
  const [source, target] = [found.source.words, found.target.words];
  const probabilities = new Map(found.links.map((link) => [keyOf(link.source, link.target), link.probability]));
  const links = new Map(found.links.filter((link) => link.source < MOST && link.target < MOST).map((link) => [keyOf(link.source, link.target), link.probability]));
  const how = {
    over(i, j) {
      const p = i === null ? undefined : probabilities.get(keyOf(i, j));
      byId("at").textContent = i === null ? "" : `${apart(source[i])} – ${apart(target[j])}${p === undefined ? "" : `: ${p.toFixed(2)}`}`;
    },
    click() {},
    room: byId("drawing").clientWidth || 800,
  };
  const pair = { source: source.slice(0, MOST), target: target.slice(0, MOST), layers: [{ links, k: 0 }], count: 1, gold: null, cursor: null };
  const picture = (state.ribbon ? drawRibbon : drawMatrix)(pair, how);
  picture.setAttribute("aria-label", "The links; they are in the table below");
  refill(byId("drawing"), picture);
  const rows = found.links.slice(0, 2000).map((link) => element("tr", {},
    element("th", { scope: "row" }, `${link.source}-${link.target} `, element("bdi", {}, source[link.source]), " – ", element("bdi", {}, target[link.target])),
    element("td", {}, link.probability.toFixed(2))));
  refill(byId("links"), element("table", {}, element("tbody", {}, ...rows)));
}

async function post(path, body) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

function tell(check) {
  const parts = [["Left out", check.left_out], ["Added", check.added], ["Repeated", check.repeated]]
    .filter(([, spans]) => spans.length)
    .map(([name, spans]) => `${name}: ${spans.map((span) => apart(span.text)).join(", ")}`);
  const numbers = [...check.missing_numbers.map((n) => `−${n}`), ...check.added_numbers.map((n) => `+${n}`)];
  if (numbers.length) parts.push(`Numbers: ${numbers.join(" ")}`);
  byId("found").textContent = parts.join(". ");
}

async function ask() {
  const turn = ++state.asked;
  const body = { model: byId("model").value, source: byId("source").value, target: byId("target").value };
  const clear = () => {
    state.found = null;
    byId("found").textContent = "";
    byId("state").textContent = "";
    draw();
  };
  byId("problem").textContent = "";
  if (!body.source.trim() || !body.target.trim()) return clear();
  const began = performance.now();
  try {
    const [found, check] = await Promise.all([post("align", body), post("check", body)]);
    if (turn !== state.asked) return; // another was typed meanwhile
    state.found = found;
    byId("state").textContent = `${found.links.length} links, ${Math.round(performance.now() - began)} ms`;
    draw();
    tell(check);
    say(`${found.links.length} links`);
  } catch (error) {
    if (turn !== state.asked) return;
    clear();
    byId("problem").textContent = error instanceof TypeError ? "The service does not answer." : error.message;
  }
}

function soon() {
  clearTimeout(state.timer);
  state.timer = setTimeout(ask, WAIT);
}

function flip() {
  state.ribbon = !state.ribbon;
  memory.write(state.ribbon ? "ribbon" : "matrix");
  draw();
}

startTheme();
for (const id of ["source", "target"]) {
  byId(id).addEventListener("input", soon);
  byId(id).addEventListener("keydown", (event) => event.key === "Escape" && byId(id).blur());
}
byId("model").addEventListener("change", ask);
byId("form").addEventListener("click", flip);
byId("sides").addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("resize", () => state.found && draw());
startKeys([
  { keys: ["m"], shown: "m", does: "matrix or ribbon", run: flip },
  { keys: ["s"], shown: "s", does: "write the source sentence", run: () => byId("source").focus() },
  { keys: ["t"], shown: "t", does: "write the target sentence", run: () => byId("target").focus() },
  { keys: [], shown: "Esc", does: "leave the sentence, for other keys", run: () => false },
]);
if (byId("source").value || byId("target").value) ask();
draw();
