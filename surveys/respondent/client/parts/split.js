/**
 * Puts the items of a long score on several pages. The last page has the name and the answer of the
 * question. In Python: surveys/manifest/grids.py.
 */
import { additions } from "../visit/additions.js";
import { kinds } from "../visit/fields.js";
import { cut } from "../visit/cutting.js";

/** @import { Page } from "../report/rules.js" */

additions.split = (pages) =>
  pages.flatMap((page) => (page.score ? split(page, page.score) : [page]));

/**
 * @param {Page} page
 * @param {NonNullable<Page["score"]>} score
 * @returns {Page[]}
 */
function split(page, score) {
  const { name } = page;
  const pieces = cut(score.items);
  const parts = pieces.map((_, i) => (pieces[i + 1] ? `${name}/${i}` : name));
  let from = 0;
  return pieces.map((items, i) => {
    const part = { ...page, score: { ...score, items }, parts, from };
    from += items.length;
    return pieces[i + 1] ? { ...part, name: parts[i], follows: name, count: undefined } : part;
  });
}

const onOnePage = { ...kinds.score };

/**
 * @param {Page} page
 * @param {unknown} answer
 */
const findOwn = ({ from = 0, score }, answer) =>
  Array.isArray(answer) ? answer.slice(from, from + Number(score?.items.length)) : answer;

Object.assign(kinds.score, {
  /** @type {typeof onOnePage.makeFields} */
  makeFields: (page, visit, quote, accept) => {
    const { name, parts = [], from = 0 } = page;
    const { answers } = visit;
    const own = /** @type {any} */ (findOwn(page, answers[name]));
    const alone = { ...visit, answers: { [name]: own } };
    const fields = onOnePage.makeFields(page, alone, quote, accept);
    const read = () => {
      const found = fields.read();
      if (typeof found === "string") return found;
      // A refusal is for the whole score, and so is taking it back.
      for (const part of parts) {
        if (found === null) answers[part] = null;
        else if (answers[part] === null) delete answers[part];
      }
      if (!Array.isArray(found)) return found;
      // All pages share one list, so that each can change it later.
      const shared = parts.map((part) => answers[part]).find(Array.isArray) ?? [];
      found.forEach((place, i) => (shared[from + i] = place));
      return shared;
    };
    return { ...fields, read };
  },
  /** @type {typeof onOnePage.describe} */
  describe: (page, answer, quote) => {
    const { count } = page;
    const whole = () => count?.(/** @type {number[]} */ (answer)) ?? 0;
    const own = /** @type {number[]} */ (findOwn(page, answer));
    const told = onOnePage.describe({ ...page, count: whole }, own, quote);
    return count ? told : told.slice(-own.length); // the total is that of all pages
  },
});
