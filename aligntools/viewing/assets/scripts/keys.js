// The keyboard: bindings of keys, and the dialog that lists them.
import { byId, element } from "./dom.js";

// Where keys mean text or are the control's own.
function takesKeys(node) {
  return node.closest("input, select, textarea, dialog, [contenteditable]") !== null;
}

// Bind keys. Each of `bindings` is { keys: ["j", "ArrowDown"], shown: "j, ↓", does: "next pair", run(event) }.
// A binding whose `run` returns false leaves the key to the browser.
export function startKeys(bindings) {
  const dialog = byId("keys");
  const open = () => dialog.showModal();
  const all = [...bindings, { keys: ["?"], shown: "?", does: "show this list", run: open }];
  const byKey = new Map(all.flatMap((binding) => binding.keys.map((key) => [key, binding])));
  dialog.querySelector("dl").replaceChildren(
    ...all.filter((binding) => binding.shown).flatMap((binding) => [element("dt", {}, element("kbd", {}, binding.shown)), element("dd", {}, binding.does)]),
  );
  byId("help").addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || takesKeys(event.target)) return;
    const binding = byKey.get(event.key);
    if (binding && binding.run(event) !== false) event.preventDefault();
  });
}

// The keys that go through a list of sentences and search it.
export function keysOf(list) {
  return [
    { keys: ["j", "ArrowDown"], shown: "j, ↓", does: "next sentence", run: () => list.move(1) },
    { keys: ["k", "ArrowUp"], shown: "k, ↑", does: "sentence before", run: () => list.move(-1) },
    { keys: ["PageDown"], shown: "PgDn", does: "a page on", run: () => list.move(list.pageLength()) },
    { keys: ["PageUp"], shown: "PgUp", does: "a page back", run: () => list.move(-list.pageLength()) },
    { keys: ["Home"], shown: "Home", does: "first sentence", run: () => list.select(0) },
    { keys: ["End"], shown: "End", does: "last sentence", run: () => list.select(list.items.length - 1) },
    { keys: ["/"], shown: "/", does: "search words", run: () => byId("query").focus() },
  ];
}
