/** Makes fields that a person ticks, chooses or fills in, for pages that need more than one tap. */
import { make } from "./elements.js";
import { makeWords } from "./fields.js";

/**
 * @import { Answer } from "../report/rules.js"
 * @import { Choice } from "./fields.js"
 * @import { Survey } from "./survey.js"
 */

// Firefox writes fields that differ from their defaults into its profile.
for (const event of ["input", "change"]) {
  addEventListener(event, () => {
    for (const field of document.querySelectorAll("input")) {
      field.defaultChecked = field.checked;
      field.defaultValue = field.value;
    }
  });
}

/** @param {Partial<HTMLInputElement>} properties */
export const makeInput = (properties) =>
  Object.assign(document.createElement("input"), { autocomplete: "off", ...properties });

/**
 * @param {Choice[]} choices
 * @param {"radio" | "checkbox"} type
 * @param {Answer | undefined} answer The earlier answer, if there is one.
 * @param {Survey["quote"]} quote
 * @param {string} [place] Makes the fields differ from those of other rows.
 */
export function makeChoices(choices, type, answer, quote, place = "") {
  const boxes = choices.map(({ value }, i) => {
    const defaultChecked = [answer].flat().includes(/** @type {number} */ (value));
    return makeInput({ type, name: `choice${place}`, id: `choice-${i}${place}`, defaultChecked });
  });
  /** @type {HTMLElement[]} */
  const rows = choices.map((choice, i) =>
    make("label", { class: "choice" }, boxes[i], ...makeWords(choice, quote))
  );
  const readChosen = () => choices.filter((_, i) => boxes[i].checked).map(({ value }) => value);
  return { boxes, rows, readChosen };
}
