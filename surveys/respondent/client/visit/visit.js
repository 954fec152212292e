/**
 * All that changes while the page is open.
 *
 * @import { Keeper } from "../report/keeper.js"
 * @import { Answers } from "../report/walk.js"
 * @import { Survey } from "./survey.js"
 *
 * @typedef {object} Visit
 * @property {"reading" | "answering" | "submitted" | "left"} phase
 * @property {Answers} answers They live here and nowhere else. They are dropped as soon as they are
 *   scrambled, or when the page is left.
 * @property {string[]} trail The names of the pages that were shown, one for each step.
 * @property {number} step The number of the step on the screen; the history holds nothing else.
 * @property {Keeper | null} keeper None in a preview.
 * @property {Survey | null} survey Once it is loaded.
 */

/** @returns {Visit} */
export const startVisit = () => ({
  phase: "reading",
  answers: {},
  trail: [],
  step: 0,
  keeper: null,
  survey: null,
});
