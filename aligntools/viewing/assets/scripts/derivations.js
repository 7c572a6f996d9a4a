// The page of derivations: a list of sentences, their translations beside the reference, and the rules of one.
import { data } from "./data.js";
import { drawDerivation, sideText } from "./derivation-drawing.js";
import { common } from "./differences.js";
import { byId, element, refill } from "./dom.js";
import { matcher } from "./filter.js";
import { keysOf, startKeys } from "./keys.js";
import { startTheme } from "./theme.js";
import { virtualList } from "./virtual.js";

const { features, compared } = data;

const sentences = data.sentences.map(([source, reference, derivations], k) => ({
  number: k + 1, source, reference,
  derivations: derivations.map(([score, words, rules]) => ({
    score, words,
    rules: rules.map(([own, from, to, begin, end, tails, points, values]) => ({ own, source: from, target: to, begin, end, tails, score: points, values })),
  })),
  text: [source, reference || [], ...derivations.map(([, words]) => words)].map((words) => words.join(" ")).join(" "),
}));

// Words of the best translation that are not the reference's, found when they are first asked for.
function others(s) {
  if (s.others === undefined) {
    const best = s.derivations[0]?.words || [];
    s.others = s.reference ? common(best, s.reference)[0].filter((same) => !same).length : 0;
  }
  return s.others;
}

function rowOf(s) {
  return [element("span", { class: "count" }, compared ? `+${others(s)}` : String(s.number)), element("bdi", {}, s.source.join(" "))];
}

function wordsWith(words, same, kind) {
  return words.flatMap((word, k) => [k ? " " : "", same[k] ? word : element("span", { class: kind }, word)]);
}

function show(s) {
  byId("which-one").textContent = `Sentence ${s.number}`;
  refill(byId("source"), element("bdi", {}, s.source.join(" ")));
  const rows = s.derivations.map((d, k) => {
    const same = s.reference ? common(d.words, s.reference)[0] : d.words.map(() => true);
    const input = element("input", { type: "radio", name: "hypothesis", checked: k === 0, input: () => showOne(s, k) });
    return element("label", {}, input, element("span", { class: "score" }, d.score.toFixed(3)), element("bdi", { class: "words" }, ...wordsWith(d.words, same, "other")));
  });
  if (s.reference) {
    const best = s.derivations[0]?.words || [];
    const same = common(best, s.reference)[1];
    rows.unshift(element("label", {}, element("span"), element("span", { class: "score" }, "reference"), element("bdi", { class: "words" }, ...wordsWith(s.reference, same, "lacking"))));
  }
  refill(byId("hypotheses"), ...rows);
  showOne(s, 0);
}

function showOne(s, k) {
  const d = s.derivations[k];
  if (!d) {
    refill(byId("picture"), element("p", { class: "soft" }, "No derivation."));
    refill(byId("rules"));
    return;
  }
  refill(byId("picture"), drawDerivation(s.source, d, `Derivation of translation ${k + 1} of sentence ${s.number}`));
  const head = ["words", "rule", "score", "features"].map((name) => element("th", { scope: "col" }, name));
  const rows = d.rules.map((rule) => {
    const values = [];
    for (let i = 0; i < rule.values.length; i += 2) values.push(`${features[rule.values[i]]} ${rule.values[i + 1]}`);
    return element("tr", {},
      element("th", { scope: "row" }, `${rule.begin}–${rule.end}`),
      element("td", {}, element("bdi", {}, `${rule.own ? "X" : "S"} → ${sideText(rule.source, rule.tails)} ||| ${sideText(rule.target, rule.tails)}`)),
      element("td", {}, rule.score.toFixed(3)),
      element("td", { class: "soft" }, values.join(", ")));
  });
  refill(byId("rules"), element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

const list = virtualList({ host: byId("sentences"), height: 34, draw: rowOf, chosen: show });

function refresh() {
  const { matches, wrong } = matcher(byId("query").value);
  byId("query").setAttribute("aria-invalid", wrong ? "true" : "false");
  byId("query").title = wrong;
  const found = sentences.filter((s) => matches(s.text));
  if (byId("order")?.value === "other") found.sort((a, b) => others(b) - others(a) || a.number - b.number);
  byId("count").textContent = `${found.length} of ${sentences.length} sentences`;
  list.show(found);
  if (!found.length) {
    byId("which-one").textContent = "No sentence";
    for (const id of ["source", "hypotheses", "picture", "rules"]) refill(byId(id));
  }
}

startTheme();
byId("query").addEventListener("input", refresh);
byId("order")?.addEventListener("input", refresh);
startKeys(keysOf(list));
refresh();
