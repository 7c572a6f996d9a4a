// What a search box asks for: words, or between slashes a regular expression.

// Return { matches(text), wrong }: `wrong` says what is wrong with an expression, which then matches everything.
export function matcher(query) {
  const asked = query.trim();
  const expression = asked.match(/^\/(.+?)\/?$/su);
  if (expression) {
    try {
      const compiled = new RegExp(expression[1], "iu");
      return { matches: (text) => compiled.test(text), wrong: "" };
    } catch (error) {
      return { matches: () => true, wrong: error.message };
    }
  }
  const words = asked.toLowerCase().split(/\s+/).filter((word) => word);
  return { matches: (text) => words.length === 0 || containsWords(text.toLowerCase().split(" "), words), wrong: "" };
}

// Whether each word is among those of a text; "be*" stands for all that begin so.
function containsWords(text, words) {
  return words.every((word) => {
    const begin = word.endsWith("*") ? word.slice(0, -1) : null;
    return text.some((other) => (begin === null ? other === word : other.startsWith(begin)));
  });
}
