// The sentence pairs of the page: words, links of the systems, gold links, as they came with the page.
import { data } from "./data.js";
import { keyOf } from "./scores.js";

const goldPlaces = new Map((data.gold?.pairs ?? []).map((n, place) => [n, place]));

export const total = data.source.length;
export const systems = data.systems.map(({ name, probabilities }) => ({ name, scored: probabilities !== null }));

function split(text) {
  return text ? text.split(" ") : [];
}

export function wordsOf(n) {
  return { source: split(data.source[n]), target: split(data.target[n]) };
}

export function textOf(n) {
  return `${data.source[n]} ${data.target[n]}`;
}

export function linesOf(n) {
  return [data.source[n], data.target[n]];
}

// The links of system k: a Map from keys to probabilities, null where there is none.
export function linksOf(k, n) {
  const { links, probabilities } = data.systems[k];
  const flat = links[n];
  const found = new Map();
  for (let at = 0; at < flat.length; at += 2) {
    const p = probabilities ? probabilities[n][at / 2] : -1;
    found.set(keyOf(flat[at], flat[at + 1]), p < 0 ? null : p / 100);
  }
  return found;
}

function keysOf(flat) {
  const keys = new Set();
  for (let at = 0; at < flat.length; at += 2) keys.add(keyOf(flat[at], flat[at + 1]));
  return keys;
}

// The gold links that came with the page: { sure, possible }, sure ones being possible too; null where there are none.
export function givenGold(n) {
  const place = goldPlaces.get(n);
  if (place === undefined) return null;
  return { sure: keysOf(data.gold.sure[place]), possible: keysOf(data.gold.possible[place]) };
}
