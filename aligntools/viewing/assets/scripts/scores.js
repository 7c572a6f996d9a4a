// Figures of one pair. Links are Maps or Sets whose keys are `keyOf(i, j)`.

const WIDE = 2 ** 24;

export function keyOf(i, j) {
  return i * WIDE + j;
}

export function linkOf(key) {
  return [Math.floor(key / WIDE), key % WIDE];
}

// Alignment error rate (Och & Ney 2003): 1 - (|A∩S| + |A∩P|) / (|A| + |S|).
export function aer(links, gold) {
  let inSure = 0;
  let inPossible = 0;
  for (const key of links.keys()) {
    if (gold.sure.has(key)) inSure++;
    if (gold.possible.has(key)) inPossible++;
  }
  const size = links.size + gold.sure.size;
  return size ? 1 - (inSure + inPossible) / size : 0;
}

// What is to be said of a link of a system: right, wrong, missed, plain (there is no gold), or nothing.
export function verdict(links, gold, key) {
  const linked = links.has(key);
  if (!gold) return linked ? "plain" : "";
  if (linked) return gold.possible.has(key) ? "right" : "wrong";
  return gold.sure.has(key) ? "missed" : "";
}

// How much systems differ: the share of the links of any that not all have.
export function disagreement(systems) {
  const counts = new Map();
  for (const links of systems) for (const key of links.keys()) counts.set(key, (counts.get(key) ?? 0) + 1);
  if (!counts.size) return 0;
  let common = 0;
  for (const count of counts.values()) if (count === systems.length) common++;
  return 1 - common / counts.size;
}

// Mean probability of links that have one; null where none has.
export function confidence(links) {
  let sum = 0;
  let count = 0;
  for (const p of links.values()) {
    if (p === null) continue;
    sum += p;
    count++;
  }
  return count ? sum / count : null;
}
