/** Sections: the questions after a heading, which is a text of the author. */
import { additions } from "./additions.js";

/**
 * @import { Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 */

/**
 * Makes the heading of the section that each question belongs to.
 * @param {Page[]} open
 * @param {Survey["quote"]} quote
 */
export function listSections(open, quote) {
  /** @type {HTMLElement | undefined} */
  let section;
  return open.flatMap(({ type, text, number }) => {
    if (type === "information") section = additions.findHeading?.(quote(text))[0] ?? section;
    return number ? [section] : [];
  });
}
