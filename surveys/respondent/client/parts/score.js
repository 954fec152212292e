/**
 * A score: a question whose answer this page computes from items that share answers. Only the
 * scrambled score is sent; items are in the page's memory. In Python: surveys/manifest/scores.py.
 */
import { checkWhole } from "../randomize.js";
import { demand } from "../report/channels.js";
import { Refusal } from "../report/manifest.js";
import { additions } from "../visit/additions.js";
import { make } from "../visit/elements.js";
import { makeChoices } from "../visit/boxes.js";
import { kinds, listExtras, listOptions, withRefusal } from "../visit/fields.js";
import { writeNumber } from "../visit/numbers.js";
import { makeRow } from "../visit/rows.js";
import { say } from "../visit/words.js";

/** @import { Described, Question, Score } from "../report/manifest.js" */

const MOST_ITEMS = 30;
const MOST_WEIGHT = 100;
const FURTHEST_VALUE = 1000;

additions.readScores = (questions) => {
  try {
    for (const question of questions) if (question.score) readScore(question, question.score);
  } catch {
    throw new Refusal("unsafe");
  }
};

/**
 * @param {Question} question
 * @param {Score} score
 */
export function readScore(question, { items, options, bounds = [] }) {
  const values = options.map(({ value }) => value);
  for (const value of values) checkWhole(value, -FURTHEST_VALUE, FURTHEST_VALUE);
  for (const { weight = 1 } of items) checkWhole(weight, 1, MOST_WEIGHT);
  checkWhole(items.length, 2, MOST_ITEMS);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const weights = items.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const [least, most] = [low * weights, high * weights];
  checkCarrier(question, bounds, least, most);
  // A bound above the last one and at most the highest total.
  bounds.forEach((bound, i) => checkWhole(bound, (bounds[i - 1] ?? least) + 1, most));
  question.count = (chosen) => {
    checkWhole(chosen.length, items.length, items.length);
    const total = items.reduce((sum, { weight = 1, reversed }, i) => {
      const value = values[chosen[i]];
      return sum + weight * (reversed ? low + high - value : value);
    }, 0);
    return bounds.length ? bounds.filter((bound) => bound <= total).length : total;
  };
}

/**
 * Throws unless the answers of the question are those that its items can have.
 * @param {Described} question
 * @param {number[]} bounds
 * @param {number} least
 * @param {number} most
 */
function checkCarrier({ type, minimum, maximum, options = [] }, bounds, least, most) {
  demand(least < most);
  if (type === "number") demand(minimum === least && maximum === most && !bounds.length);
  else demand(["yes_no", "choice"].includes(type) && options.length === bounds.length + 1);
  demand(type !== "yes_no" || bounds.length === 1);
}

kinds.score = {
  makeFields: (page, { answers }, quote) => {
    const { items, options } = /** @type {Score} */ (page.score);
    const choices = options.map(({ text }, value) => ({ text, value, isOwn: true }));
    const given = answers[page.name];
    const refusal = makeChoices(withRefusal(page, []), "checkbox", given, quote);
    const lists = items.map(({ text }, i) => {
      const chosen = Array.isArray(given) ? given[i] : undefined;
      const { boxes, rows, readChosen } = makeChoices(choices, "radio", chosen, quote);
      for (const box of boxes) {
        box.addEventListener("change", () => refusal.boxes.forEach((one) => (one.checked = false)));
      }
      return { boxes, list: makeRow(quote(text), i, rows), readChosen };
    });
    // One answer and a refusal of the whole scale exclude each other.
    for (const one of refusal.boxes) {
      one.addEventListener(
        "change",
        () => lists.forEach(({ boxes }) => boxes.forEach((box) => (box.checked = false))),
      );
    }
    const open = () => lists.find(({ readChosen }) => !readChosen().length);
    const read = () => {
      const [refused] = refusal.readChosen();
      if (refused !== undefined) return refused;
      if (open()) return say("each");
      return lists.map(({ readChosen }) => Number(readChosen()[0]));
    };
    const rows = [...lists.map(({ list }) => list), ...refusal.rows];
    return { rows, first: () => (open() ?? lists[0]).boxes[0], read };
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
  spell: (page, quote) => [[...listNames(page, quote), ...listExtras(page)]],
};

/**
 * Names the answers that can be sent, in the order of their codes.
 * @param {Question} page
 * @param {(text: string) => HTMLElement} quote
 * @returns {(Node | string)[]}
 */
function listNames({ type, minimum = 0, maximum = 0, score, ...page }, quote) {
  if (type === "number") return [minimum, maximum].map(writeNumber);
  if (type === "choice") return listOptions({ type, ...page }).map(({ text }) => quote(text));
  const [bound] = /** @type {number[]} */ (score?.bounds).map(writeNumber);
  return [`< ${bound}`, `≥ ${bound}`];
}
