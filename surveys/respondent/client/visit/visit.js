/**
 * The state of a visit: everything that changes while the page is open.
 *
 * @import { Keeper } from "../report/keeper.js"
 * @import { Answers } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 *
 * @typedef {object} Visit
 * @property {"reading" | "answering" | "submitted" | "left"} phase
 * @property {Answers} answers They are stored nowhere else, and dropped when they are scrambled.
 *   If people are watched or share a device, they are also dropped when the page is left.
 * @property {(string | undefined)[]} trail The names of the pages on the way, the one on the screen
 *   first. The page for checking has none.
 * @property {string | boolean} [confirms] Whether answers wait for Continue. Undefined until the
 *   person has chosen, or has answered without choosing.
 * @property {boolean} isCovered Whether the page for checking hides the answers.
 * @property {Promise<Keeper>} [keeper] It may not be open yet. A preview has none.
 * @property {Survey | null} survey Set when it is loaded.
 */

/** @returns {Visit} */
export const startVisit = () => ({
  phase: "reading",
  answers: {},
  trail: [],
  isCovered: false,
  survey: null,
});
