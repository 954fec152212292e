/**
 * Questions that their author asks together: rows that share their answers, at most seven on a
 * screen. In Python: surveys/manifest/grids.py.
 */
import { additions } from "../visit/additions.js";
import { cut } from "../visit/cutting.js";
import { make } from "../visit/elements.js";
import { makeChoices } from "../visit/boxes.js";
import { findKind, kinds, listOptions, withRefusal } from "../visit/fields.js";
import { makeAssurance } from "../visit/question.js";
import { makeRow } from "../visit/rows.js";
import { label } from "../visit/screen.js";
import { listSections } from "../visit/sections.js";
import { say } from "../visit/words.js";

/**
 * @import { Answers, Page } from "../report/rules.js"
 *
 * @typedef {object} Shared
 * @property {string[]} names The names by which it is found.
 * @property {boolean} isOpen Whether an answer is missing.
 * @property {Page[]} [rows] The questions on it.
 * @property {Page[]} [open] The questions of all screens.
 *
 * @typedef {Page & Shared} Screen
 */

const TYPES_IN_GRIDS = ["yes_no", "choice", "scale"]; // others say more than a row can

/** @param {Page} page */
const listShared = ({ type, options, minimum, maximum, low_label, high_label, refusal, rule }) =>
  JSON.stringify([type, options, minimum, maximum, low_label, high_label, refusal, rule]);

/**
 * @param {Page | undefined} before
 * @param {Page} page
 */
const sharesAnswers = (before, page) =>
  before && TYPES_IN_GRIDS.includes(page.type) && !before.score && !page.score &&
  listShared(before) === listShared(page);

/** @param {string} name */
const findOdds = (name) => label?.querySelector(`[data-names~="${name}"]`);

/**
 * Groups the visible pages that share answers into screens.
 * @param {Page[]} pages
 * @param {Page[]} visible
 * @param {Answers} answers
 * @returns {Screen[]}
 */
function arrange(pages, visible, answers) {
  /** @type {Page[][]} */
  const grids = [];
  pages.forEach((page, i) => {
    // A mark between questions that do not fit has no effect.
    const joins = page.together && sharesAnswers(pages[i - 1], page);
    if (joins) grids[grids.length - 1].push(page);
    else grids.push([page]);
  });
  const parts = grids.flatMap((grid) => cut(grid.filter((page) => visible.includes(page))));
  return parts.flatMap((rows) => {
    const [page] = rows;
    const names = rows.map(({ name }) => name);
    const isOpen = names.some((name) => answers[name] === undefined);
    const shared = { ...page, names, isOpen };
    if (!rows[1]) return [shared];
    const isEqual = new Set(names.map(findOdds)).size === 1;
    return [{ ...shared, type: "grid", rows, follows: isEqual ? page.name : "", open: visible }];
  });
}

additions.locate = (pages, open, { answers, trail }) => {
  const screens = arrange(pages, open, answers);
  const screen = screens.find(({ names, isOpen }) => isOpen || names.includes(`${trail[0]}`));
  // A row that is changed keeps its own name, by which the page for checking finds it.
  if (!screen?.names.includes(`${trail[0]}`)) trail[0] = screen?.name;
  const which = screens.findIndex((one) => one === screen) + 1;
  // The screens of a person whose answers open all pages.
  const all = arrange(pages, pages.filter(({ isDrawn }) => isDrawn), answers);
  const most = which + all.length - 1 - all.findIndex(({ name }) => name === screen?.name);
  return [screen, which, most, screens.length];
};

kinds.grid = {
  // Screen readers say what to do; other people see it.
  makeTitle: (page, quote) => {
    const { name, open = [] } = /** @type {Screen} */ (page);
    const until = open.findIndex((one) => one.name === name) + 1;
    const [section] = listSections(open.slice(0, until), quote).slice(-1);
    return section ?? make("span", { class: "visually-hidden" }, say("rows"));
  },
  makeFields: (page, visit, quote) => {
    const { rows = [], follows, open = [] } = /** @type {Screen} */ (page);
    const made = rows.map((page, i) => {
      const { listChoices = listOptions } = findKind(page);
      const choices = withRefusal(page, listChoices(page));
      const fields = makeChoices(choices, "radio", visit.answers[page.name], quote, `${i}`);
      const row = makeRow(quote(page.text), fields.rows);
      // Where the protection differs, each row says how strong its own is.
      for (const line of follows ? [] : makeAssurance(page, open)) {
        line.removeAttribute("id");
        row.firstElementChild?.append(line);
      }
      return { ...fields, row };
    });
    const findMissing = () => made.find(({ readChosen }) => !readChosen().length);
    return {
      rows: made.map(({ row }) => row),
      first: () => (findMissing() ?? made[0]).boxes[0],
      read: () => {
        if (findMissing()) return say("one");
        const [first, ...others] = made.map(({ readChosen }) => readChosen()[0]);
        // The page stores the answer of the first row, whose name it has.
        others.forEach((answer, i) => (visit.answers[rows[i + 1].name] = answer));
        return first;
      },
    };
  },
  describe: () => [],
};
