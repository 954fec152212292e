/**
 * Decides which questions a person is asked, and finds the code of each answer.
 * In Python: surveys/manifest/rules.py and aggregator/simulation/respondents.py.
 *
 * @typedef {object} Rule A leaf has `name` and `is`; any other rule has one of the other
 *   properties.
 * @property {Rule[]} [all]
 * @property {Rule[]} [any]
 * @property {Rule} [not]
 * @property {string} name
 * @property {number[]} is
 *
 * @typedef {Record<string, number | undefined>} Codes The codes of the answers, by symbol.
 */

/**
 * @param {Rule} rule
 * @param {Codes} codes
 * @returns {boolean}
 */
export function holds({ all, any, not, name, is }, codes) {
  if (all) return all.every((part) => holds(part, codes));
  if (any) return any.some((part) => holds(part, codes));
  return not ? !holds(not, codes) : is.some((code) => code === codes[name]);
}

/**
 * @param {Rule} rule
 * @returns {Rule[]}
 */
export function leaves(rule) {
  const parts = rule.all ?? rule.any ?? (rule.not && [rule.not]);
  return parts ? parts.flatMap(leaves) : [rule];
}

/**
 * @import { Option, Question } from "./manifest.js"
 *
 * @typedef {object} Part What a page has if its question has several.
 * @property {string} [follows] The question of a second page after Yes, and of all pages of a score
 *   but the last.
 * @property {string[]} [parts] The names of all pages of a score (client/parts/split.js).
 * @property {number} [from] The first item of a score on the page.
 *
 * @typedef {Question & Part} Page One question on the screen, or a part of it.
 * @typedef {number | number[] | null} Answer null is "prefer not to say". For a score, it is the
 *   place of the chosen answer for each item.
 * @typedef {Record<string, Answer>} Answers By the name of the page.
 */

/**
 * @param {Question[]} questions
 * @param {string[]} words No and Yes.
 * @returns {Page[]}
 */
export function listPages(questions, words) {
  return questions.flatMap((question) => {
    const { name, type, follow_up: text = "" } = question;
    if (type !== "yes_no" && type !== "follow_up") return [question];
    const options = words.map((text, code) => ({ code, text, isOurs: true })).reverse();
    if (type === "yes_no") return [{ ...question, options }];
    const rule = { name, is: [1] };
    const then = { ...question, options, name: `${name}+`, text, rule, follows: name };
    return [{ ...question, options }, then];
  });
}

/**
 * Finds the open pages and their codes. Drops the answers on all other pages.
 * @param {Page[]} pages
 * @param {Answers} answers
 */
export function walk(pages, answers) {
  /** @type {Codes} */
  const codes = {};
  const open = pages.filter(({ name, options = [], rule, isDrawn, follows, count }) => {
    if (!isDrawn || (rule && !holds(rule, codes))) {
      delete answers[name];
      return false;
    }
    const given = answers[name];
    const answer = count && Array.isArray(given) ? count(given) : given;
    const code = typeof answer === "number" ? answer : undefined;
    // A question with a follow-up has the codes 0 No, 1 Yes then Yes, 2 Yes then No.
    if (follows) codes[follows] = code === undefined ? code : 2 - code;
    else codes[name] = code;
    if (Array.isArray(answer)) {
      for (const { code } of options) codes[`${name}_${code}`] = Number(answer.includes(code));
    }
    return true;
  });
  return { open, codes };
}
