/**
 * What parts of the script do, apart from asking questions (client/parts). The server leaves out
 * the parts that a survey does not need.
 *
 * @import { Envelope } from "../report/envelope.js"
 * @import { Keeper, StoreLate } from "../report/keeper.js"
 * @import { Manifest } from "../report/manifest.js"
 * @import { Page } from "../report/rules.js"
 * @import { Outcome } from "./outcome.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 *
 * @typedef {[Page | undefined, number, number, number]} Place What to show, or nothing after the last page;
 *   its number among the screens of this person, their largest possible number, and their number.
 *
 * @typedef {object} Additions
 * @property {(keeper: Keeper, drawn: Envelope | undefined, outcome: Outcome) => Promise<void>} [handOver]
 *   Ends the visit in the page as one file, which sends nothing.
 * @property {(text: HTMLElement) => Node[]} [makeText] Makes a text between questions.
 * @property {(keeper: Keeper | null | undefined, manifest: Manifest) => Promise<void>} [drawPart] Draws which
 *   questions this person is asked.
 * @property {(manifest: Manifest) => void} [readScores] Throws if a score contradicts its items.
 *   Makes the functions that compute answers from items.
 * @property {(manifest: Manifest) => Page[]} [preface] Makes pages that come before all questions.
 * @property {(pages: Page[], open: Page[], visit: Visit) => Place} [locate] Finds the screen that the
 *   trail names, or the first one without an answer if that comes before it.
 * @property {(pages: Page[]) => Page[]} [split] Puts long scores on several pages.
 * @property {(visit: Visit, restart: () => void) => void} [offerLanguages] Changes the language
 *   without losing answers.
 * @property {(text: HTMLElement) => HTMLElement[]} [findHeading] Takes the heading from a text.
 * @property {(above: HTMLElement, open: Page[], page: Page, place: number, most: number,
 *   quote: Survey["quote"]) => void} [showWay] Says how far the visit is.
 * @property {(open: Page[], rows: HTMLElement[], visit: Visit, quote: Survey["quote"],
 *   end: HTMLElement[]) => HTMLElement} [fold] Folds the sections of the page for checking.
 * @property {() => void} [showMoments] Writes moments in the device's own time zone.
 * @property {StoreLate} [storeLate] Stores a report only if it cannot be sent at once.
 * @property {(visit: Visit) => Node[]} [makeRoom] Offers a device that people share to the next one.
 */

/** @type {Additions} */
export const additions = {};
