/** Makes the page of one question, or of a text between questions. */
import { make, makeBack, makeButton, makeLink } from "./elements.js";
import { makeFields } from "./fields.js";
import { say } from "./words.js";

/**
 * @import { Answer, Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 */

/**
 * @param {Page} page
 * @param {string} progress
 * @param {Answer | undefined} answer The earlier answer, if there is one.
 * @param {Survey["quote"]} quote
 * @param {(answer: Answer) => void} proceed
 */
export function makeQuestion(page, progress, answer, quote, proceed) {
  const isText = page.type === "information";
  const title = make("h1", { tabindex: -1 }, isText ? say("read") : quote(page.text));
  const head = [makeBack(), make("p", { class: "eyebrow" }, progress)];
  if (isText) {
    const text = make("p", { class: "intro" }, quote(page.text));
    return [...head, title, text, makeButton(say("continue"), () => proceed(1))];
  }
  const { rows, first, read } = makeFields(page, answer, quote);
  const legend = make("legend", {}, title);
  const described = { "aria-describedby": "hint error" };
  const group = make("fieldset", described, legend, ...makeHints(page, quote), ...rows);
  const accept = () => {
    const found = read();
    if (typeof found === "string") showError(legend, first, found);
    else proceed(found);
  };
  group.addEventListener("keydown", ({ key, isComposing }) => {
    if (key === "Enter" && !isComposing) accept();
  });
  return [...head, group, makeButton(say("continue"), accept)];
}

/**
 * @param {Page} page
 * @param {Survey["quote"]} quote
 */
function makeHints({ type, limit, low_label, high_label }, quote) {
  const id = "hint";
  if (type === "declared") return [make("p", { id, class: "notice" }, say("declared"))];
  if (type === "several") {
    return [make("p", { id }, limit ? say("limit", { limit }) : say("all"))];
  }
  if (!low_label && !high_label) return [];
  const ends = [low_label, high_label].map((end) => quote(end ?? ""));
  return [make("p", { id, class: "ends" }, ...ends)];
}

/**
 * @param {HTMLElement} legend
 * @param {HTMLElement} first The field to correct.
 * @param {string} text
 */
function showError(legend, first, text) {
  for (const old of document.querySelectorAll(".error-summary, .error")) old.remove();
  const summary = make(
    "div",
    { class: "error-summary", role: "group", "aria-labelledby": "problem", tabindex: -1 },
    make("h2", { id: "problem" }, say("problem")),
    make("p", {}, makeLink(text, () => first.focus(), "fix")),
  );
  legend.after(make("p", { class: "error", id: "error" }, text));
  document.querySelector(".back")?.after(summary);
  const prefix = `${say("error")} `;
  document.title = prefix + document.title.replace(prefix, "");
  summary.focus();
}
