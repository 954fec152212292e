/** Makes the page of one question, or of a text between questions. */
import { additions } from "./additions.js";
import { make, makeBack, makeButton, makeLink } from "./elements.js";
import { findKind } from "./fields.js";
import { label } from "./screen.js";
import { say } from "./words.js";

/**
 * @import { Answer, Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * @param {Page} page
 * @param {string} progress
 * @param {Visit} visit
 * @param {Survey["quote"]} quote
 * @param {(answer: Answer) => void} proceed
 */
export function makeQuestion(page, progress, visit, quote, proceed) {
  const { title: ours, makeFields, hint } = findKind(page);
  const head = [makeBack(), make("p", { class: "eyebrow" }, progress)];
  if (page.type === "information") {
    const text = additions.makeText?.(quote(page.text)) ?? [];
    return [...head, ...text, makeButton(say("continue"), () => proceed(1))];
  }
  const title = make("h1", { tabindex: -1 }, ours ? say(ours) : quote(page.text));
  const { rows, first, read, after = [] } = makeFields(page, visit, quote);
  const legend = make("legend", {}, title);
  const hints = page.type === "declared"
    ? [make("p", { id: "hint", class: "but" }, say("declared"))]
    : hint
    ? [make("p", { id: "hint" }, hint(page))]
    : [];
  const group = make("fieldset", {}, legend, ...makeAssurance(page), ...hints, ...rows);
  describe(group);
  const accept = () => {
    const found = read();
    if (typeof found === "string") showError(group, first(), found);
    else proceed(found);
  };
  group.addEventListener("keydown", ({ key, isComposing }) => {
    if (key === "Enter" && !isComposing) accept();
  });
  return [...head, group, makeButton(say("continue"), accept), ...after];
}

/**
 * Repeats what the label says about this answer, the mark and the word for its strength first.
 * @param {Page} page
 */
export function makeAssurance({ name, follows = name }) {
  const odds = label?.querySelector(`[data-names~="${follows}"]`);
  if (!odds) return [];
  const line = /** @type {HTMLElement} */ (odds.cloneNode(true));
  line.id = "odds";
  line.classList.add("quiet");
  line.querySelector("b")?.remove();
  return [line];
}

/** @param {HTMLElement} group */
function describe(group) {
  const ids = ["odds", "hint", "error"].filter((id) => group.querySelector(`#${id}`));
  group.setAttribute("aria-describedby", ids.join(" "));
}

/**
 * @param {HTMLElement} group
 * @param {HTMLElement} first The field to correct.
 * @param {string} text
 */
function showError(group, first, text) {
  for (const old of document.querySelectorAll(".error-summary, .error")) old.remove();
  const summary = make(
    "div",
    { class: "error-summary", role: "group", "aria-labelledby": "problem", tabindex: -1 },
    make("h2", { id: "problem" }, say("problem")),
    make("p", {}, makeLink(text, () => first.focus(), "fix")),
  );
  const above = group.querySelector(".intro") ?? group.querySelector("legend");
  above?.after(make("p", { class: "error", id: "error" }, text));
  describe(group);
  document.querySelector(".back")?.after(summary);
  const prefix = `${say("error")} `;
  document.title = prefix + document.title.replace(prefix, "");
  summary.focus();
  scrollTo(0, 0); // WebKit leaves it behind the bar that sticks to the top
}
