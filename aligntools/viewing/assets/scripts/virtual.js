// A list of any length of which only the rows in view are in the page.
import { element } from "./dom.js";

const BEYOND = 6; // rows drawn outside the view, so that scrolling shows no gap
const MOST = 8e6; // pixels; browsers draw no box that is much higher

// Fill `host` (an element of class "list") with rows. `draw(item)` returns the children of a row, `chosen(item)` is
// called when one is selected, `label(item)` (optional) is what a screen reader says instead of the row's text.
export function virtualList({ host, height, draw, chosen, label = null }) {
  let items = [];
  let at = -1;
  const room = element("div", { class: "list-room" });
  host.setAttribute("role", "listbox");
  host.tabIndex = 0;
  host.replaceChildren(room);

  const full = () => Math.min(items.length * height, MOST);
  // Where the scroll bar stands for more than it can be long, it goes by shares.
  const stretch = () => (items.length * height > MOST ? (items.length * height - host.clientHeight) / (MOST - host.clientHeight) : 1);

  function place() {
    const top = host.scrollTop * stretch();
    const first = Math.max(0, Math.floor(top / height) - BEYOND);
    const last = Math.min(items.length, Math.ceil((top + host.clientHeight) / height) + BEYOND);
    const rows = [];
    for (let k = first; k < last; k++) {
      const row = element(
        "div",
        {
          class: "list-row", role: "option", id: `${host.id}-${k}`, "aria-selected": k === at ? "true" : "false",
          "aria-setsize": items.length, "aria-posinset": k + 1, "aria-label": label ? label(items[k]) : null,
          click: () => select(k),
        },
        ...draw(items[k]),
      );
      row.style.height = `${height}px`;
      row.style.top = `${k * height - top + host.scrollTop}px`;
      rows.push(row);
    }
    room.style.height = `${full()}px`;
    room.replaceChildren(...rows);
    if (at >= first && at < last) host.setAttribute("aria-activedescendant", `${host.id}-${at}`);
    else host.removeAttribute("aria-activedescendant");
  }

  function intoView(k) {
    const top = host.scrollTop * stretch();
    let wanted = top;
    if (k * height < top) wanted = k * height;
    else if ((k + 1) * height > top + host.clientHeight) wanted = (k + 1) * height - host.clientHeight;
    if (wanted !== top) host.scrollTop = wanted / stretch();
  }

  function select(k) {
    if (!items.length) return;
    at = Math.max(0, Math.min(items.length - 1, k));
    intoView(at);
    place();
    chosen(items[at]);
  }

  let waiting = false;
  host.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      place();
    });
  });
  new ResizeObserver(place).observe(host);

  return {
    // Show other items; the one that was selected stays so if it is among them, else the first one is.
    show(others) {
      const before = items[at];
      items = others;
      at = items.indexOf(before);
      if (at < 0 && items.length) select(0);
      else {
        if (at >= 0) intoView(at);
        place();
      }
    },
    redraw: place,
    select,
    move: (steps) => select(at + steps),
    pageLength: () => Math.max(1, Math.floor(host.clientHeight / height) - 1),
    get at() {
      return at;
    },
    get items() {
      return items;
    },
  };
}
