/**
 * Second codes of scales: questions without a page, whose answer is that of a scale before them. So
 * people answer once, and the page for checking has a row for each code. It runs after the parts
 * that it changes.
 */
import { demand } from "../report/channels.js";
import { checkBlocks } from "../report/manifest.js";
import { additions } from "../visit/additions.js";
import { kinds } from "../visit/fields.js";
import { locate } from "../visit/locating.js";

/**
 * @import { Manifest, Question } from "../report/manifest.js"
 * @import { Page } from "../report/rules.js"
 */

const inherited = { ...additions };
const singly = { ...kinds.score };
/** @type {Map<string, string>} The scale of each second code. */
const scaleOf = new Map();

/** @param {Page} page */
const hasPage = ({ name }) => !scaleOf.has(name);

/** @param {Question} question */
const listTies = ({ refusal, rule }) => JSON.stringify([refusal, rule]);

additions.readScores = (manifest) => {
  const { questions } = manifest;
  questions.forEach((question, i) => {
    const { name, score } = question;
    if (!score?.of) return;
    const first = questions.slice(0, i).find((one) => one.name === score.of);
    const { items = [], options = [], of } = first?.score ?? {};
    demand(!!first && !of && listTies(first) === listTies(question));
    demand(!questions.slice(0, i).some((one) => one.score?.of === score.of));
    demand(first?.type !== question.type);
    question.score = { ...score, items, options };
    scaleOf.set(name, score.of);
  });
  joinBlocks(manifest);
  inherited.readScores?.(manifest);
};

/**
 * Puts both codes of a scale in one block, and checks again what depends on the blocks.
 * @param {Manifest} manifest
 */
function joinBlocks(manifest) {
  const { questions } = manifest;
  for (const { name, block } of questions) {
    const own = questions.find((one) => one.name === scaleOf.get(name))?.block ?? block;
    for (const one of questions) if (one.block === block) one.block = own;
  }
  const blocks = [...new Set(questions.map(({ block }) => block))].filter((block) => block >= 0);
  for (const one of questions) one.block = blocks.indexOf(one.block);
  manifest.blocks = blocks.length;
  checkBlocks(manifest);
}

additions.split = (pages) =>
  pages.flatMap((page) => (hasPage(page) ? inherited.split?.([page]) ?? [page] : [page]));

additions.locate = (pages, open, visit) => {
  const { trail } = visit;
  trail[0] = scaleOf.get(`${trail[0]}`) ?? trail[0];
  return (inherited.locate ?? locate)(pages.filter(hasPage), open.filter(hasPage), visit);
};

Object.assign(kinds.score, {
  /** @type {typeof singly.makeFields} */
  makeFields: (page, visit, quote, accept) => {
    const fields = singly.makeFields(page, visit, quote, accept);
    const read = () => {
      const found = fields.read();
      for (const [name, of] of scaleOf) {
        // The last page of a long scale has its name; declining on any page declines all of it.
        const isWhole = page.name === of || (found === null && page.follows === of);
        if (isWhole && typeof found !== "string") visit.answers[name] = found;
      }
      return found;
    };
    return { ...fields, read };
  },
  /** @type {typeof singly.describe} */
  describe: (page, answer, quote) => {
    const told = singly.describe(page, answer, quote);
    return hasPage(page) ? told : told.slice(0, 3); // without the items
  },
});
