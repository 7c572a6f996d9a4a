// The page of alignments.
import { data } from "./data.js";
import { byId, element } from "./dom.js";
import { startKeys } from "./keys.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

startTheme();
const list = virtualList({
  host: byId("pairs"),
  height: 52,
  draw: (n) => [element("div", { dir: "auto" }, data.source[n]), element("div", { dir: "auto" }, data.target[n])],
  chosen: () => {},
});
startKeys([
  { keys: ["j", "ArrowDown"], shown: "j, ↓", does: "next pair", run: () => list.move(1) },
  { keys: ["k", "ArrowUp"], shown: "k, ↑", does: "pair before", run: () => list.move(-1) },
]);
list.show(data.source.map((_, n) => n));
