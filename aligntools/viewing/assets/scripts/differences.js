// Which words two sentences have in common, in the same order.

const MOST = 4e6; // cells of the table; longer sentences are compared as sets

// Return two arrays that say of each word whether it is in the longest common subsequence.
export function common(a, b) {
  const inA = a.map(() => false);
  const inB = b.map(() => false);
  if (a.length * b.length > MOST) {
    const [setA, setB] = [new Set(a), new Set(b)];
    return [a.map((word) => setB.has(word)), b.map((word) => setA.has(word))];
  }
  const width = b.length + 1;
  const longest = new Int32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) inA[i++] = inB[j++] = true;
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
  return [inA, inB];
}
