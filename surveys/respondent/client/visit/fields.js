/** Makes and reads the fields of a question. Here one of some answers is chosen, with a button each. */
import { make, onClick } from "./elements.js";
import { say } from "./words.js";

/**
 * @import { Answer, Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 *
 * @typedef {object} Choice
 * @property {string} text
 * @property {number | null} value
 * @property {boolean} [isOwn] Whether the text is the author's.
 * @property {string} [end] What this end of a scale means.
 *
 * @typedef {object} Fields
 * @property {HTMLElement[]} rows
 * @property {boolean} [isQuick] Whether one tap answers and goes on.
 * @property {() => HTMLElement} first Returns the field to correct.
 * @property {() => Answer | string} read Returns the answer, or a sentence that says what is wrong.
 * @property {Node[]} [after] What stands below the button.
 *
 * @typedef {object} Kind How questions of one type are asked.
 * @property {(page: Page, quote: Survey["quote"]) => HTMLElement | string} [makeTitle] Makes the title, if it is
 *   not the page's text.
 * @property {(page: Page, visit: Visit, quote: Survey["quote"], accept: () => void) => Fields} makeFields
 * @property {(page: Page, answer: Answer, quote: Survey["quote"]) => (Node | string)[]} describe
 *   Puts an answer that is not a refusal into words.
 * @property {(page: Page) => Choice[]} [listChoices] The answers, if they are not its options.
 * @property {(page: Page) => string} [hint]
 * @property {(page: Page, quote: Survey["quote"]) => (Node | string)[][]} [spell] Says what each
 *   letter stands for, from A on; in two lists if the first letter differs in that from the others.
 */

/**
 * Each type with special fields is a part of the script (client/parts).
 * @type {Record<string, Kind>}
 */
export const kinds = {};

/** @param {Page} page */
export const findKind = ({ type, score }) =>
  kinds[score ? "score" : type] ?? { makeFields: makeOptions, describe: quoteOne };

/**
 * @param {Page} page
 * @returns {Choice[]}
 */
export const listOptions = ({ options = [] }) =>
  options.map(({ code, text, isOurs }) => ({ text, value: code, isOwn: !isOurs }));

/**
 * Adds the refusal, which comes last, where there is one.
 * @param {Page} page
 * @param {Choice[]} choices
 */
export const withRefusal = ({ refusal }, choices) =>
  refusal ? [...choices, { text: say("refusal"), value: null }] : choices;

/**
 * Lists what the letters after those of the answers stand for.
 * @param {Page} page
 */
export const listExtras = ({ refusal, rule }) => [
  ...(refusal ? [say("refusal")] : []),
  ...(rule ? [say("unasked")] : []),
];

/** @type {NonNullable<Kind["spell"]>} */
export const listMeanings = (page, quote) => {
  const options = listOptions(page).sort((a, b) => Number(a.value) - Number(b.value));
  const words = options.map(({ text, isOwn }) => isOwn ? quote(text) : text);
  const [no, yes] = words;
  if (page.type === "follow_up") words.splice(1, 1, `${yes}, ${yes}`, `${yes}, ${no}`);
  return [[...words, ...listExtras(page)]];
};

/**
 * @param {Choice} choice
 * @param {Survey["quote"]} quote
 */
export const makeWords = ({ text, isOwn, end }, quote) => [
  isOwn ? quote(text) : make("span", {}, text),
  ...(end ? [" ", make("span", { class: "end" }, quote(end))] : []),
];

/**
 * Makes a button for each choice. It answers and goes on, unless the author or the person wants
 * answers to be confirmed.
 * @param {Choice[]} choices
 * @param {Page} page
 * @param {Visit} visit
 * @param {Survey["quote"]} quote
 * @param {() => void} accept
 * @returns {Fields}
 */
export function makeOneOf(choices, { name }, visit, quote, accept) {
  let chosen = visit.answers[name];
  const rows = choices.map((choice) => {
    const pressed = `${choice.value === chosen}`;
    const attributes = { type: "button", class: "choice", "aria-pressed": pressed };
    const row = onClick(make("button", attributes, ...makeWords(choice, quote)), () => {
      chosen = choice.value;
      for (const one of rows) one.setAttribute("aria-pressed", `${one === row}`);
      if (visit.confirms) return;
      visit.confirms = false;
      accept();
    });
    return row;
  });
  const read = () => chosen === undefined ? say("one") : chosen;
  return { rows, isQuick: true, first: () => rows[0], read };
}

/** @type {Kind["makeFields"]} */
const makeOptions = (page, visit, quote, accept) =>
  makeOneOf(withRefusal(page, listOptions(page)), page, visit, quote, accept);

/** @type {Kind["describe"]} */
const quoteOne = (page, answer, quote) =>
  listOptions(page).filter(({ value }) => value === answer)
    .map(({ text, isOwn }) => isOwn ? quote(text) : text);
