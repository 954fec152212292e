/**
 * Rows that share their answers: cards on narrow pages, a table on wide ones (rows.css). Each row is
 * a group with its text as its name, and each field has the name of its column.
 */
import { make } from "./elements.js";

/**
 * @param {HTMLElement} text
 * @param {HTMLElement[]} answers
 */
export const makeRow = (text, answers) =>
  make(
    "fieldset",
    { class: "item" },
    make("legend", {}, text),
    make("div", { class: "row" }, ...answers),
  );
