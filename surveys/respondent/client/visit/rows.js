/**
 * Makes rows that share their answers: a table on wide pages, cards on narrow ones (parts/grid.css).
 * Each row is a group of its own with its text as its name, and each field has the name of its answer.
 */
import { make } from "./elements.js";
import { findKind } from "./fields.js";
import { makeAssurance } from "./question.js";

/**
 * @import { Answer, Answers, Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

const MOST_COLUMNS = 8;
const LETTERS_BESIDE = 48; // that fit into the columns of a table
const LETTERS_OF_PAIR = 24; // that fit beside each other on a phone

/**
 * @param {Page[]} pages
 * @param {Answers} answers
 * @param {Survey["quote"]} quote
 * @param {boolean} [differ] Whether the rows are protected differently.
 */
export function makeRows(pages, answers, quote, differ) {
  const made = pages.map((page, i) => {
    const fields = findKind(page).makeFields(page, /** @type {Visit} */ ({ answers }), quote);
    const id = `row-${i}`;
    const text = make("p", { id }, quote(page.text));
    const asks = make("div", { class: "asks" }, text, ...(differ ? makeAssurance(page) : []));
    const row = make("div", { class: "row" }, ...fields.rows);
    for (const box of row.querySelectorAll("input")) {
      box.name += `-${i}`;
      box.id += `-${i}`;
    }
    for (const line of asks.querySelectorAll("#odds")) line.removeAttribute("id");
    const group = { class: "item", role: "radiogroup", "aria-labelledby": id };
    return { ...fields, item: make("div", group, asks, row) };
  });
  const columns = [...made[0].item.querySelectorAll(".choice")].map((choice) =>
    make("div", {}, ...[...choice.childNodes].slice(1).map((node) => node.cloneNode(true)))
  );
  const words = columns.flatMap(({ textContent }) => `${textContent}`.split(/\s/));
  const longest = Math.max(4, ...words.map(({ length }) => length));
  const isTable = columns.length <= MOST_COLUMNS && columns.length * longest <= LETTERS_BESIDE;
  // Each field already has the name of its column.
  const head = make(
    "div",
    { class: "item head", "aria-hidden": "true" },
    make("div"),
    make("div", { class: "row" }, ...columns),
  );
  const style = [
    "grid",
    ...(isTable ? ["table"] : []),
    columns.length * longest > LETTERS_OF_PAIR ? "many" : "pair",
  ];
  const list = make("div", { class: style.join(" ") }, head, ...made.map(({ item }) => item));
  return {
    list: [list],
    findMissing: () => made.find(({ read }) => typeof read() === "string")?.first(),
    read: () => made.map(({ read }) => /** @type {Answer} */ (read())),
  };
}
