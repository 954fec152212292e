/**
 * Rows that share their answers: questions that their author asks together, and the items of a score.
 * A screen has at most seven. In Python: surveys/manifest/grids.py.
 */
import { additions } from "../visit/additions.js";
import { kinds } from "../visit/fields.js";
import { makeRows } from "../visit/rows.js";
import { label } from "../visit/screen.js";
import { say } from "../visit/words.js";

/**
 * @import { Page } from "../report/rules.js"
 * @import { Screen } from "../visit/additions.js"
 */

const MOST_ROWS = 7;

/**
 * Cuts a list into parts of nearly the same length.
 * @template T
 * @param {T[]} list
 */
function cut(list) {
  const count = Math.ceil(list.length / MOST_ROWS);
  const find = (/** @type {number} */ i) => Math.ceil((i * list.length) / count);
  return Array.from({ length: count }, (_, i) => list.slice(find(i), find(i + 1)));
}

/** @param {Page} page */
const listShared = ({ type, options, minimum, maximum, low_label, high_label, refusal, rule }) =>
  JSON.stringify([type, options, minimum, maximum, low_label, high_label, refusal, rule]);

/** @param {string} name */
const findOdds = (name) => label?.querySelector(`[data-names~="${name}"]`);

additions.arrange = (pages, shown, answers) => {
  /** @type {Page[][]} */
  const grids = [];
  pages.forEach((page, i) => {
    // The mark of a manifest that does not keep to it has no effect.
    const joins = page.together && !page.score && listShared(page) === listShared(pages[i - 1]);
    if (joins) grids[grids.length - 1].push(page);
    else grids.push([page]);
  });
  return grids.flatMap((grid) => cut(grid.filter((page) => shown.includes(page)))).flatMap(
    (rows) => {
      const [page] = rows;
      if (page.score) return splitScore(page, answers[page.name]);
      if (!rows[1]) return [page];
      const names = rows.map(({ name }) => name);
      const isOpen = names.some((name) => answers[name] === undefined);
      const isEqual = new Set(names.map(findOdds)).size === 1;
      // Where the protection differs, each row says its own.
      return [{ ...page, type: "grid", rows, names, isOpen, follows: isEqual ? page.name : "" }];
    },
  );
};

/**
 * @param {Page} page
 * @param {unknown} answer
 * @returns {Screen[]}
 */
function splitScore(page, answer) {
  const parts = cut([...(page.score?.items ?? []).keys()]);
  return parts.map((part, i) => {
    const [from] = part;
    const to = from + part.length;
    const key = `${page.name}/${i}`;
    const given = Array.isArray(answer) ? answer.slice(from, to) : [answer];
    return {
      ...page,
      key,
      names: i ? [key] : [key, page.name],
      isOpen: given.includes(undefined),
      next: parts[i + 1] && `${page.name}/${i + 1}`,
      from,
      to,
    };
  });
}

kinds.grid = {
  title: "rows",
  makeFields: (page, visit, quote) => {
    const { rows = [], follows } = /** @type {Screen} */ (page);
    const { list, findMissing, read } = makeRows(rows, visit.answers, quote, !follows);
    return {
      rows: list,
      first: () => findMissing() ?? list[0],
      read: () => {
        if (findMissing()) return say("rows");
        const found = read();
        // The page stores the answer of the first row, whose name it has.
        rows.forEach(({ name }, i) => (visit.answers[name] = found[i]));
        return found[0];
      },
    };
  },
  describe: () => [],
};
