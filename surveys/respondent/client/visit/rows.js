/**
 * Rows that share their answers: cards on narrow pages, a table on wide ones (rows.css). Each row is
 * a group with its text as its name, and each field has the name of its column.
 */
import { make } from "./elements.js";

/**
 * @param {HTMLElement} text
 * @param {number} place Makes its fields differ from those of other rows.
 * @param {HTMLElement[]} answers
 */
export function makeRow(text, place, answers) {
  const row = make("div", { class: "row" }, ...answers);
  for (const box of row.querySelectorAll("input")) {
    box.name += place;
    box.id += place;
  }
  return make("fieldset", { class: "item" }, make("legend", {}, text), row);
}
