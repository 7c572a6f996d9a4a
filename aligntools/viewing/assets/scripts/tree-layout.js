// Where the arcs of a dependency tree go; tree_layout.py says the same for pictures that Python draws.

// Return arcs { head, word, begin, end, level } of heads that count from 1 (0 root, -1 none), shorter ones below.
export function arcsOf(heads) {
  const gaps = new Int32Array(heads.length + 1);
  const edges = [];
  heads.forEach((head, word) => {
    if (head > 0) edges.push({ head: head - 1, word, begin: Math.min(head - 1, word), end: Math.max(head - 1, word), level: 0 });
  });
  edges.sort((a, b) => a.end - a.begin - (b.end - b.begin) || a.begin - b.begin);
  for (const arc of edges) {
    let level = 0;
    for (let k = arc.begin + 1; k <= arc.end; k++) level = Math.max(level, gaps[k]);
    arc.level = level + 1;
    gaps.fill(arc.level, arc.begin + 1, arc.end + 1);
  }
  heads.forEach((head, word) => {
    if (head === 0) edges.push({ head: -1, word, begin: word, end: word, level: Math.max(gaps[word], gaps[word + 1]) + 1 });
  });
  return edges;
}

// Return pairs [low, high] of arcs of which the second's leg goes through the first's level line.
export function crossingsOf(arcs) {
  const pairs = [];
  const sorted = [...arcs].sort((a, b) => a.begin - b.begin);
  sorted.forEach((a, i) => {
    for (let j = i + 1; j < sorted.length && sorted[j].begin < a.end; j++) {
      const b = sorted[j];
      const crosses = a.begin < b.begin && b.end > a.end;
      const root = b.head < 0 && a.begin < b.begin && a.level < b.level;
      if (crosses || root) pairs.push(a.level < b.level ? [a, b] : [b, a]);
    }
  });
  return pairs;
}
