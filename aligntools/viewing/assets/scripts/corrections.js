// Gold links made by the reader: kept in the browser under the text's own name, with undo, and as a file.
import { formatLinks, parseGold, parseLinks } from "./gold_text.js";
import { openStore } from "./store.js";

const NEXT = { undefined: "sure", sure: "possible", possible: undefined };

// `changed(n)` is called after each change of pair n (null: of many).
export function openCorrections(key, sizes, changed) {
  const store = openStore(`gold.${key}`);
  const pairs = new Map(); // n -> { links: Map, checked }
  const past = [];
  let kept = store.kept;

  for (const [n, checked, text] of store.read()?.pairs ?? []) {
    if (sizes(n)) pairs.set(n, { links: parseLinks(text), checked });
  }

  function write(n) {
    kept = store.write({ pairs: [...pairs].map(([m, { links, checked }]) => [m, checked, formatLinks(links)]) });
    changed(n);
  }

  function change(n, make) {
    const before = pairs.get(n) ?? null;
    past.push([n, before]);
    const after = make(before);
    if (after) pairs.set(n, after);
    else pairs.delete(n);
    write(n);
  }

  return {
    get: (n) => pairs.get(n) ?? null,
    get size() {
      return pairs.size;
    },
    get checked() {
      return [...pairs.values()].filter((pair) => pair.checked).length;
    },
    get kept() {
      return kept;
    },
    get canUndo() {
      return past.length > 0;
    },
    // None, sure, possible, none. `start()` gives the links that a pair begins with.
    toggle(n, key, start) {
      change(n, (before) => {
        const links = new Map(before ? before.links : start());
        const next = NEXT[links.get(key)];
        if (next) links.set(key, next);
        else links.delete(key);
        return { links, checked: before ? before.checked : false };
      });
    },
    check(n, start) {
      change(n, (before) => ({ links: before ? before.links : start(), checked: !(before && before.checked) }));
    },
    clear: (n) => change(n, (before) => ({ links: new Map(), checked: before ? before.checked : false })),
    reset: (n) => pairs.has(n) && change(n, () => null),
    undo() {
      const [n, before] = past.pop() ?? [null, null];
      if (n === null) return null;
      if (before) pairs.set(n, before);
      else pairs.delete(n);
      write(n);
      return n;
    },
    forget() {
      pairs.clear();
      past.length = 0;
      write(null);
    },
    // Throws an Error that says what is wrong with which line; then nothing has changed.
    load(text) {
      const found = parseGold(text, sizes);
      for (const [n, links] of found) pairs.set(n, { links, checked: true });
      past.length = 0;
      write(null);
      return found.length;
    },
    // The checked pairs.
    asText() {
      const lines = [...pairs].filter(([, pair]) => pair.checked).sort(([a], [b]) => a - b);
      return lines.map(([n, { links }]) => `#${n + 1}\t${formatLinks(links)}\n`).join("");
    },
  };
}
