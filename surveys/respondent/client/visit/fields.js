/** Makes and reads the fields of a question: choices, a number, or both. */
import { make } from "./elements.js";
import { listPoints, makeScale } from "./scale.js";
import { say, writeNumber } from "./words.js";

/**
 * @import { Answer, Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 *
 * @typedef {object} Choice
 * @property {string} text
 * @property {number | null} value
 * @property {boolean} [isOwn] Whether the text is the author's.
 * @property {string} [end] What this end of a scale means.
 *
 * @typedef {object} Fields
 * @property {HTMLElement[]} rows
 * @property {HTMLElement} first
 * @property {() => Answer | string} read Returns the answer, or a sentence that says what is wrong.
 */

const NONE = -1; // the value of "None of these"

/**
 * @param {Page} page
 * @returns {Choice[]}
 */
function listChoices(page) {
  const { type, options = [], refusal } = page;
  /** @type {Choice[]} */
  const choices = type === "scale"
    ? listPoints(page)
    : options.map(({ code, text, isOurs }) => ({ text, value: code, isOwn: !isOurs }));
  if (type === "several") choices.push({ text: say("none"), value: NONE });
  if (refusal) choices.push({ text: say("refusal"), value: null });
  return choices;
}

/** @param {Partial<HTMLInputElement>} properties */
const makeInput = (properties) =>
  Object.assign(document.createElement("input"), { autocomplete: "off", ...properties });

/**
 * @param {Page} page
 * @param {Answer | undefined} answer The earlier answer, if there is one.
 * @param {Survey["quote"]} quote
 * @returns {Fields}
 */
export function makeFields(page, answer, quote) {
  const { type, minimum = 0, unit = "", refusal } = page;
  const isNumber = type === "number";
  const choices = listChoices(page);
  const boxes = choices.map(({ value }, i) => {
    const checked = [answer].flat().includes(/** @type {number} */ (value));
    const kind = isNumber || type === "several" ? "checkbox" : "radio";
    return makeInput({ type: kind, name: "choice", id: `choice-${i}`, checked });
  });
  /** @type {HTMLElement[]} */
  const rows = choices.map(({ text, isOwn, end }, i) => {
    const words = isOwn ? quote(text) : make("span", {}, text);
    const meaning = end ? [" ", make("span", { class: "end" }, quote(end))] : [];
    return make("label", { class: "choice" }, boxes[i], words, ...meaning);
  });
  // Some numeric keyboards have no minus sign.
  const inputMode = minimum < 0 ? "text" : "numeric";
  const typedField = makeInput({ inputMode, value: `${answer ?? ""}` });
  if (isNumber) {
    const title = make("span", {}, say("number", writeRange(page)));
    rows.unshift(make("label", { class: "number" }, title, typedField, " ", quote(unit)));
  }
  if (type === "several") {
    // "None of these" and a refusal stand alone.
    rows.splice(-1 - Number(!!refusal), 0, make("p", { class: "or" }, say("or")));
  }
  keepAlone(choices, boxes, typedField);
  const read = () => readFields(page, choices, boxes, typedField);
  const first = isNumber ? typedField : boxes[0];
  if (type !== "scale") return { rows, first, read };
  const points = rows.splice(0, rows.length - Number(!!refusal));
  return { rows: [makeScale(page, points, quote), ...rows], first, read };
}

/**
 * Unchecks what cannot be combined: "None of these", a refusal and a typed number exclude the rest.
 * @param {Choice[]} choices
 * @param {HTMLInputElement[]} boxes
 * @param {HTMLInputElement} typedField
 */
function keepAlone(choices, boxes, typedField) {
  /** @param {number} i */
  const isAlone = (i) => (choices[i].value ?? NONE) === NONE;
  boxes.forEach((box, i) =>
    box.addEventListener("change", () => {
      typedField.value = "";
      boxes.forEach((other, j) => {
        if (i !== j && box.checked && (isAlone(i) || isAlone(j))) other.checked = false;
      });
    })
  );
  typedField.addEventListener("input", () => boxes.forEach((box) => (box.checked = false)));
}

/**
 * @param {Page} page
 * @param {Choice[]} choices
 * @param {HTMLInputElement[]} boxes
 * @param {HTMLInputElement} typedField
 * @returns {Answer | string}
 */
function readFields(page, choices, boxes, typedField) {
  const { type, minimum = 0, maximum = 0, limit = Infinity, refusal } = page;
  const isSeveral = type === "several";
  const chosen = choices.filter((_, i) => boxes[i].checked).map(({ value }) => value);
  if (type === "number" && !chosen.length) {
    const value = readNumber(typedField.value);
    return value >= minimum && value <= maximum ? value : say("type", writeRange(page));
  }
  if (chosen.length > limit) return say("over", { chosen: chosen.length, limit });
  if (isSeveral && chosen.length && chosen[0] !== null) return /** @type {number[]} */ (chosen);
  if (chosen.length) return chosen[0];
  const [one, other, more] = boxes.map((box) => box.parentElement?.textContent ?? "");
  if (isSeveral) return say(refusal ? "some-refusal" : "some");
  return more ? say("one") : say("either", { one, other });
}

/** @param {Page} page */
const writeRange = ({ minimum = 0, maximum = 0 }) => ({
  minimum: writeNumber(minimum),
  maximum: writeNumber(maximum),
});

/** @param {string} text */
function readNumber(text) {
  // Some keyboards produce digits of other scripts.
  const digits = text.normalize("NFKC").replace(/[٠-٩۰-۹]/g, (one) => `${one.charCodeAt(0) & 15}`);
  const typed = digits.trim().replace("−", "-");
  return /^-?\d+$/.test(typed) ? Number(typed) : NaN;
}
