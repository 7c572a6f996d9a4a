// The chosen pair: its drawing, the layers that are shown, its figures, its links as text.
import { byId, element, refill, say } from "./dom.js";
import { sample } from "./marks.js";
import { drawMatrix } from "./matrix.js";
import { linksOf, systems, wordsOf } from "./pairs.js";
import { drawRibbon } from "./ribbon.js";
import { aer, confidence, keyOf, linkOf, verdict } from "./scores.js";
import { openStore } from "./store.js";

const MOST = 300; // words of a side that are drawn at once
const SAID = { right: "right", wrong: "false", missed: "missed", plain: "linked" };
const apart = (word) => `\u2068${word}\u2069`; // whichever way it runs, it turns nothing around it
const percent = (x) => `${(100 * x).toFixed(1)} %`;

// `goldOf(n)` gives gold links; `toggle(n, i, j)` is called for a cell that is clicked while correcting.
export function startPairView({ goldOf, corrections, toggle }) {
  const shown = systems.map(() => true);
  const memory = openStore("form");
  const state = { n: null, gold: true, form: memory.read() === "ribbon" ? "ribbon" : "matrix", editing: false, cursor: [0, 0], most: MOST };
  const host = byId("drawing");

  function pairOf(n) {
    const words = wordsOf(n);
    const layers = systems.flatMap((_, k) => (shown[k] ? [{ links: linksOf(k, n), k }] : []));
    const order = layers.map((layer, at) => ({ ...layer, system: layer.k, k: at }));
    const cut = { source: words.source.slice(0, state.most), target: words.target.slice(0, state.most) };
    const gold = state.gold || state.editing ? goldOf(n) : null;
    return { words, cut, layers: order, gold };
  }

  // Links between words that are drawn.
  function within(links, cut) {
    const fits = (key) => linkOf(key)[0] < cut.source.length && linkOf(key)[1] < cut.target.length;
    return links instanceof Map
      ? new Map([...links].filter(([key]) => fits(key)))
      : new Set([...links].filter(fits));
  }

  function describe(words, layers, gold, i, j) {
    const key = keyOf(i, j);
    const parts = [`${apart(words.source[i])} – ${apart(words.target[j])}`];
    if (gold && (gold.possible.has(key) || state.editing)) {
      parts.push(gold.sure.has(key) ? "sure" : gold.possible.has(key) ? "possible" : "no gold link");
    }
    for (const { links, system } of layers) {
      const what = verdict(links, gold, key);
      const p = links.get(key);
      if (what) parts.push(`${systems[system].name}: ${SAID[what]}${p === undefined || p === null ? "" : ` ${p.toFixed(2)}`}`);
    }
    return parts.join("; ");
  }

  function drawScores({ layers, gold }) {
    const parts = layers.map(({ links, system }) => {
      const figures = [];
      if (gold) figures.push(`AER ${percent(aer(links, gold))}`);
      const sure = confidence(links);
      if (sure !== null) figures.push(`confidence ${sure.toFixed(2)}`);
      figures.push(`${links.size} links`);
      return [element("bdi", {}, systems[system].name), ` ${figures.join(", ")}`];
    });
    byId("pair-scores").replaceChildren(...parts.flatMap((part, k) => (k ? ["; ", ...part] : part)));
  }

  function drawLayers(n) {
    const buttons = systems.length > 1 || goldOf(n) ? systems.map(({ name }, k) =>
      element("button", { type: "button", "aria-pressed": String(shown[k]), title: `Show or hide (${k + 1})`, click: () => flip(k) }, element("bdi", {}, name))) : [];
    if (goldOf(n)) {
      buttons.push(element("button", { type: "button", id: "gold-layer", "aria-pressed": String(state.gold || state.editing), title: "Show or hide gold links (g)", click: flipGold }, corrections.get(n) ? "Gold, corrected" : "Gold"));
    }
    refill(byId("layers"), ...buttons);
  }

  function drawLegend({ layers, gold }) {
    const rows = gold
      ? [layers.length && ["right", "right"], layers.length && ["wrong", "false"], layers.length && ["missed", "missed"], ["sure", "gold, sure"], ["possible", "gold, possible"]]
      : [["plain", "link"]];
    const samples = rows.filter((row) => row && (state.form === "matrix" || !["sure", "possible"].includes(row[0])))
      .map(([what, text]) => element("span", {}, sample(what), text));
    if (layers.length > 1) {
      const where = state.form === "matrix" ? "In each cell, in reading order: " : "Side by side: ";
      samples.push(element("span", {}, where + layers.map(({ system }) => systems[system].name).join(", ")));
    }
    if (systems.some((system) => system.scored)) samples.push(element("span", {}, "the paler, the less probable"));
    refill(byId("legend"), ...samples);
  }

  function drawLinks({ words, layers, gold }) {
    const keys = new Set(layers.flatMap(({ links }) => [...links.keys()]));
    if (gold) gold.possible.forEach((key) => keys.add(key));
    const rows = [...keys].sort((a, b) => a - b).slice(0, 2000).map((key) => {
      const [i, j] = linkOf(key);
      const cells = layers.map(({ links }) => SAID[verdict(links, gold, key)] ?? "");
      const inGold = gold ? [gold.sure.has(key) ? "sure" : gold.possible.has(key) ? "possible" : ""] : [];
      return element("tr", {},
        element("th", { scope: "row" }, `${i}-${j} `, element("bdi", {}, words.source[i]), " – ", element("bdi", {}, words.target[j])),
        ...[...inGold, ...cells].map((text) => element("td", {}, text)));
    });
    const heads = ["link", ...(gold ? ["gold"] : []), ...layers.map(({ system }) => systems[system].name)];
    refill(byId("links"), element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, element("bdi", {}, text))))), element("tbody", {}, ...rows)));
  }

  function draw() {
    const { n } = state;
    if (n === null) return refill(host);
    const pair = pairOf(n);
    const { words, cut, layers, gold } = pair;
    state.cursor = [Math.min(state.cursor[0], cut.source.length - 1), Math.min(state.cursor[1], cut.target.length - 1)];
    byId("pair-number").textContent = `Pair ${n + 1}`;
    byId("form").textContent = state.form === "matrix" ? "Ribbon" : "Matrix";
    byId("edit").setAttribute("aria-pressed", String(state.editing));
    byId("editing").hidden = !state.editing;
    byId("at").hidden = false;
    byId("pair").classList.toggle("editing", state.editing);
    const own = corrections.get(n);
    byId("checked").setAttribute("aria-pressed", String(Boolean(own?.checked)));
    byId("undo").disabled = !corrections.canUndo;
    byId("reset").disabled = !own;
    const drawable = cut.source.length > 0 && cut.target.length > 0;
    const picture = (state.form === "matrix" ? drawMatrix : drawRibbon)(
      {
        ...cut,
        layers: layers.map(({ links, k }) => ({ links: within(links, cut), k })),
        count: layers.length,
        gold: gold && { sure: within(gold.sure, cut), possible: within(gold.possible, cut) },
        cursor: state.editing && drawable ? state.cursor : null,
      },
      {
        over: (i, j) => { byId("at").textContent = i === null ? "" : describe(words, layers, gold, i, j); },
        click(i, j) {
          if (!state.editing) return;
          state.cursor = [i, j];
          toggle(n, i, j);
        },
        room: host.clientWidth || 800,
      },
    );
    picture.setAttribute("aria-label", `${state.form} of pair ${n + 1}; its links are in the table below`);
    const hidden = Math.max(words.source.length, words.target.length) - state.most;
    const more = hidden > 0 ? element("p", {}, `${hidden} more words. `, element("button", { type: "button", click: () => { state.most = 1e9; draw(); } }, "Draw all")) : null;
    host.tabIndex = 0;
    const scroll = [host.scrollLeft, host.scrollTop];
    refill(host, drawable ? picture : element("p", { dir: "auto" }, words.source.concat(words.target).join(" ") || "A blank pair."), more);
    [host.scrollLeft, host.scrollTop] = scroll;
    byId("at").textContent = state.editing && drawable ? describe(words, layers, gold, ...state.cursor) : "";
    drawScores(pair);
    drawLayers(n);
    drawLegend(pair);
    if (byId("spelled").open) drawLinks(pair);
  }

  function flip(k) {
    if (k >= shown.length) return false;
    shown[k] = !shown[k];
    draw();
    return true;
  }
  function flipGold() {
    state.gold = !state.gold;
    draw();
  }
  function flipForm() {
    state.form = state.form === "matrix" ? "ribbon" : "matrix";
    memory.write(state.form);
    draw();
  }
  function flipEditing() {
    state.editing = !state.editing;
    draw();
    if (state.editing) host.focus({ preventScroll: true });
    say(state.editing ? "Correcting: arrows move, space changes a link" : "Not correcting");
  }
  byId("form").addEventListener("click", flipForm);
  byId("edit").addEventListener("click", flipEditing);
  byId("spelled").addEventListener("toggle", draw);
  let width = 0;
  new ResizeObserver(() => {
    if (host.clientWidth !== width && state.form === "ribbon") draw();
    width = host.clientWidth;
  }).observe(host);

  return {
    draw,
    flip,
    flipGold,
    flipForm,
    flipEditing,
    get editing() {
      return state.editing;
    },
    get n() {
      return state.n;
    },
    choose(n) {
      if (n !== state.n) Object.assign(state, { cursor: [0, 0], most: MOST });
      state.n = n;
      draw();
    },
    // Move the cursor of correcting; false where there is none.
    step(di, dj) {
      if (!state.editing) return false;
      const { source, target } = wordsOf(state.n);
      const within = (x, size) => Math.max(0, Math.min(Math.min(size, state.most) - 1, x));
      state.cursor = [within(state.cursor[0] + di, source.length), within(state.cursor[1] + dj, target.length)];
      draw();
      host.querySelector(".cursor")?.scrollIntoView({ block: "nearest", inline: "nearest" });
      say(byId("at").textContent);
      return true;
    },
    press() {
      const { source, target } = wordsOf(state.n);
      if (!state.editing || !source.length || !target.length) return false;
      toggle(state.n, ...state.cursor);
      say(byId("at").textContent);
      return true;
    },
  };
}
