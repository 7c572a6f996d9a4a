// What the browser keeps for this page. Where it keeps nothing (a private window, a notebook's frame), memory does,
// and `kept` is false.

export function openStore(name) {
  let shelf = null;
  try {
    shelf = window.localStorage;
    shelf.setItem("aligntools.trial", "1");
    shelf.removeItem("aligntools.trial");
  } catch {
    shelf = null;
  }
  const memory = new Map();
  const key = `aligntools.${name}`;
  return {
    kept: shelf !== null,
    read() {
      try {
        const text = shelf ? shelf.getItem(key) : memory.get(key);
        return text ? JSON.parse(text) : null;
      } catch {
        return null;
      }
    },
    // Returns whether it is kept: a browser's room is limited.
    write(value) {
      const text = JSON.stringify(value);
      try {
        if (shelf) shelf.setItem(key, text);
        else memory.set(key, text);
        return shelf !== null;
      } catch {
        return false;
      }
    },
    remove() {
      if (shelf) shelf.removeItem(key);
      else memory.delete(key);
    },
  };
}
