// Gold links as text: Pharaoh, `i-j` sure and `i?j` possible, each line after the number of its pair: "#17\t0-0 1?2".
import { keyOf, linkOf } from "./scores.js";

// `links` is a Map from keys to "sure" or "possible".
export function formatLinks(links) {
  return [...links.keys()]
    .sort((a, b) => a - b)
    .map((key) => linkOf(key).join(links.get(key) === "sure" ? "-" : "?"))
    .join(" ");
}

export function parseLinks(text) {
  const links = new Map();
  for (const word of text.split(/\s+/).filter((each) => each)) {
    const found = word.match(/^(\d{1,7})([-?pP])(\d{1,7})$/);
    if (!found) throw new Error(`'${word.slice(0, 30)}' is not a link such as 3-4 or 3?4`);
    const key = keyOf(Number(found[1]), Number(found[3]));
    if (found[2] === "-" || !links.has(key)) links.set(key, found[2] === "-" ? "sure" : "possible");
  }
  return links;
}

// Read a file of gold links: [[pair, links], ...], pairs from 0 on. Lines without a number are pairs in their order.
// `sizes(n)` gives the numbers of words of a pair, or null where there is no such pair.
export function parseGold(text, sizes) {
  const found = [];
  const lines = text.replace(/^\ufeff/, "").replace(/\n$/, "").split(/\r?\n/);
  lines.forEach((line, at) => {
    const [, number, rest] = line.match(/^(?:#(\d{1,9})\t|[^\t]*\t)?(.*)$/s);
    try {
      const n = number === undefined ? at : Number(number) - 1;
      const size = sizes(n);
      if (!size) throw new Error(`there is no pair ${n + 1}`);
      const links = parseLinks(rest);
      for (const key of links.keys()) {
        const [i, j] = linkOf(key);
        if (i >= size[0] || j >= size[1]) throw new Error(`link ${i}-${j} points past the sentences of pair ${n + 1}`);
      }
      found.push([n, links]);
    } catch (error) {
      throw new Error(`line ${at + 1}: ${error.message}`);
    }
  });
  return found;
}
