/**
 * Lays out a rating scale. The words for its ends stand with their own points: in the rows of a
 * list, or above a single row if all points and words fit there (respondent.css).
 */
import { make } from "./elements.js";
import { writeNumber } from "./words.js";

/**
 * @import { Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 *
 * @typedef {object} Point
 * @property {string} text
 * @property {number} value
 * @property {string} [end] What this end of the scale means, in the author's words.
 */

const FEW_IN_ROW = 7;
const MOST_IN_ROW = 11; // that fit into one row of the widest page
const TOO_LONG = /.{21}|\S{12}/u; // for the width of two points

/**
 * @param {Page} page
 * @returns {Point[]}
 */
export function listPoints({ options = [], minimum = 0, maximum = 0, low_label, high_label }) {
  /** @type {Point[]} */
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
export function makeScale({ low_label = "", high_label = "" }, rows, quote) {
  const ends = [low_label, high_label].map(quote);
  const fits = rows.length <= MOST_IN_ROW && ends.every((end) => !TOO_LONG.test(end.innerText));
  const width = rows.length > FEW_IN_ROW ? "many" : "few";
  // Each point already names its end.
  const above = make("p", { class: "ends", "aria-hidden": "true" }, ...ends);
  const points = make("div", { class: "points" }, ...rows);
  return make("div", { class: fits ? `scale ${width}` : "scale" }, above, points);
}
