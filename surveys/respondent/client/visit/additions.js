/**
 * What parts of the script do, apart from asking questions (client/parts). The server leaves out
 * the parts that a survey does not need.
 *
 * @import { Envelope } from "../report/envelope.js"
 * @import { Keeper, StoreLate } from "../report/keeper.js"
 * @import { Manifest, Question } from "../report/manifest.js"
 * @import { Answers, Page } from "../report/rules.js"
 * @import { Outcome } from "./outcome.js"
 * @import { Visit } from "./visit.js"
 *
 * @typedef {object} Shared What a screen has if it is not exactly one page.
 * @property {string} [key] Its name in the trail, if another screen has the same page.
 * @property {string[]} [names] The names by which it is found.
 * @property {boolean} [isOpen] Whether an answer is missing.
 * @property {string} [next] The key of the screen that always follows.
 * @property {Page[]} [rows] The pages on it.
 * @property {number} [from] The first item of a score on it.
 * @property {number} [to] The item after the last one.
 *
 * @typedef {Page & Shared} Screen
 *
 * @typedef {object} Additions
 * @property {(keeper: Keeper, drawn: Envelope | undefined, outcome: Outcome) => Promise<void>} [handOver]
 *   Ends the visit in the page as one file, which sends nothing.
 * @property {(text: HTMLElement) => Node[]} [makeText] Makes a text between questions.
 * @property {(keeper: Keeper | null, manifest: Manifest) => Promise<void>} [drawPart] Draws which
 *   questions this person is asked.
 * @property {(questions: Question[]) => void} [readScores] Throws if a score contradicts its items.
 *   Makes the functions that compute answers from items.
 * @property {(manifest: Manifest) => Page[]} [preface] Makes pages that come before all questions.
 * @property {(pages: Page[], shown: Page[], answers: Answers) => Screen[]} [arrange] Puts pages that
 *   share answers together on screens. Returns those of the pages that are shown.
 * @property {(visit: Visit, restart: () => void) => void} [offerLanguages] Changes the language
 *   without losing answers.
 * @property {() => void} [showMoments] Writes moments in the device's own time zone.
 * @property {StoreLate} [storeLate] Stores a report only if it cannot be sent at once.
 * @property {(visit: Visit) => Node[]} [makeRoom] Offers a device that people share to the next one.
 */

/** @type {Additions} */
export const additions = {};
