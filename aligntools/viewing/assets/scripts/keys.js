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
