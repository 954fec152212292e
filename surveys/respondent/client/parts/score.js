/**
 * A score: a question whose answer this page computes from items that share answers. Only the
 * scrambled score is sent; items stay in the page's memory. In Python: surveys/manifest/scores.py.
 */
import { checkWhole } from "../randomize.js";
import { demand } from "../report/channels.js";
import { additions } from "../visit/additions.js";
import { make } from "../visit/elements.js";
import { makeChoices } from "../visit/boxes.js";
import { kinds, listExtras, listMeanings, withRefusal } from "../visit/fields.js";
import { writeNumber } from "../visit/numbers.js";
import { makeRow } from "../visit/rows.js";
import { say } from "../visit/words.js";

/**
 * @import { Question, Score } from "../report/manifest.js"
 * @import { Page } from "../report/rules.js"
 */

additions.readScores = ({ questions }) => {
  for (const question of questions) if (question.score) readScore(question, question.score);
};

/**
 * @param {Question} question
 * @param {Score} score
 */
function readScore(question, { items, options, bounds = [] }) {
  const { type, minimum, maximum, options: answers = [] } = question;
  const values = options.map(({ value }) => value);
  const weights = items.map(({ weight = 1 }) => weight);
  // The same limits as in Python, where they have names.
  for (const value of values) checkWhole(value, -1000, 1000);
  for (const weight of weights) checkWhole(weight, 1, 100);
  checkWhole(items.length, 2, 30);
  const ends = [Math.min(...values), Math.max(...values)];
  const [low, high] = ends;
  const [least, most] = ends.map((end) => weights.reduce((sum, weight) => sum + weight * end, 0));
  demand(least < most);
  // The answers of the question must fit the totals of its items.
  if (type === "number") demand(minimum === least && maximum === most && !bounds.length);
  else {
    demand(type === "choice" || (type === "yes_no" && bounds.length === 1));
    checkWhole(answers.length, bounds.length + 1, bounds.length + 1);
  }
  // Each bound is above the previous one and at most the highest total.
  bounds.forEach((bound, i) => checkWhole(bound, (bounds[i - 1] ?? least) + 1, most));
  question.count = (chosen) => {
    checkWhole(chosen.length, items.length, items.length);
    const total = items.reduce((sum, { reversed }, i) => {
      const value = values[chosen[i]];
      return sum + weights[i] * (reversed ? low + high - value : value);
    }, 0);
    return bounds.length ? bounds.filter((bound) => bound <= total).length : total;
  };
}

kinds.score = {
  makeFields: (page, { answers }, quote) => {
    const { items, options } = /** @type {Score} */ (page.score);
    const choices = options.map(({ text }, value) => ({ text, value, isOwn: true }));
    const given = /** @type {number[] | null | undefined} */ (answers[page.name]);
    const lists = items.map((_, i) => makeChoices(choices, "radio", given?.[i], quote, `${i}`));
    const refusal = makeChoices(withRefusal(page, []), "checkbox", given, quote);
    // One answer and a refusal of the whole scale exclude each other.
    for (const one of [...lists, refusal]) {
      const others = one === refusal ? lists : [refusal];
      const clear = () =>
        others.forEach(({ boxes }) => boxes.forEach((box) => box.checked = false));
      for (const row of one.rows) row.addEventListener("change", clear);
    }
    /** @returns {(number | null | undefined)[]} */
    const listChosen = () => lists.map(({ readChosen }) => readChosen()[0]);
    return {
      rows: [...lists.map(({ rows }, i) => makeRow(quote(items[i].text), rows)), ...refusal.rows],
      first: () => lists[Math.max(0, listChosen().indexOf(undefined))].boxes[0],
      read: () => {
        if (refusal.readChosen().length) return null;
        const chosen = listChosen();
        return chosen.includes(undefined) ? say("each") : /** @type {number[]} */ (chosen);
      },
    };
  },
  describe: (page, answer, quote) => {
    const { items, options } = /** @type {Score} */ (page.score);
    const chosen = /** @type {number[]} */ (answer);
    const code = Number(page.count?.(chosen));
    const told = page.type === "number" ? writeNumber(code) : listNames(page, quote)[code];
    const given = items.map(({ text }, i) =>
      make("small", {}, quote(text), " ", make("b", {}, quote(options[chosen[i]].text)))
    );
    return [say("total"), " ", make("span", { dir: "auto" }, told), ...given];
  },
  spell: (page, quote) => [listNames(page, quote)],
};

/**
 * Names the codes that can be sent, in their order.
 * @param {Page} page
 * @param {(text: string) => HTMLElement} quote
 */
function listNames(page, quote) {
  const { type, minimum = 0, maximum = 0, score } = page;
  if (type === "choice") return listMeanings(page, quote)[0];
  const bound = score?.bounds?.map(writeNumber);
  const ends = bound ? [`< ${bound}`, `≥ ${bound}`] : [minimum, maximum].map(writeNumber);
  return [...ends, ...listExtras(page)];
}
