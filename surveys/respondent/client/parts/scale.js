/**
 * A rating scale. The words for its ends stand with their own points: in the rows of a list, or
 * above a single row if all points and words fit there (respondent.css).
 */
import { make } from "../visit/elements.js";
import { kinds, listExtras, makeOneOf, withRefusal } from "../visit/fields.js";
import { writeNumber } from "../visit/numbers.js";

/**
 * @import { Page } from "../report/rules.js"
 * @import { Choice } from "../visit/fields.js"
 * @import { Survey } from "../visit/survey.js"
 */

const FEW_IN_ROW = 7;
const MOST_IN_ROW = 11; // that fit into one row of the widest page
const TOO_LONG = /.{21}|\S{12}/u; // for the width of two points

kinds.scale = {
  listChoices: listPoints,
  makeFields: (page, visit, quote, accept) => {
    const choices = listPoints(page);
    const fields = makeOneOf(withRefusal(page, choices), page, visit, quote, accept);
    const points = fields.rows.splice(0, choices.length);
    return { ...fields, rows: [makeScale(page, points, quote), ...fields.rows] };
  },
  // A long scale is rounded to one of its ends.
  spell: (page) => {
    const points = listPoints(page).map(({ text }) => text);
    const letters = page.options?.length ? points : [points[0], points[points.length - 1]];
    return [[...letters, ...listExtras(page)]];
  },
  describe: (page, answer, quote) =>
    listPoints(page).filter(({ value }) => value === answer)
      .flatMap(({ text, end }) => end ? [text, " (", quote(end), ")"] : [text]),
};

/**
 * @param {Page} page
 * @returns {Choice[]}
 */
function listPoints({ options = [], minimum = 0, maximum = 0, low_label, high_label }) {
  /** @type {Choice[]} */
  const points = options.map(({ code, text }) => ({ text: writeNumber(text), value: code }));
  if (!options.length) {
    for (let value = minimum; value <= maximum; value += 1) {
      points.push({ text: writeNumber(value), value });
    }
  }
  points[0].end = low_label;
  points[points.length - 1].end = high_label;
  return points;
}

/**
 * @param {Page} page
 * @param {HTMLElement[]} rows One for each point.
 * @param {Survey["quote"]} quote
 */
function makeScale({ low_label = "", high_label = "" }, rows, quote) {
  const ends = [low_label, high_label].map(quote);
  const fits = rows.length <= MOST_IN_ROW && ends.every((end) => !TOO_LONG.test(end.innerText));
  const width = rows.length > FEW_IN_ROW ? "many" : "few";
  // Each point already names its end.
  const above = make("p", { class: "ends", "aria-hidden": "true" }, ...ends);
  const points = make("div", { class: "points" }, ...rows);
  return make("div", { class: fits ? `scale ${width}` : "scale" }, above, points);
}
