/** Makes the page of a question or a text, and shows what is wrong with an answer. */
import { additions } from "./additions.js";
import { copyAll, make, makeBack, makeButton, makeLink } from "./elements.js";
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
 * @param {Page[]} open
 * @param {Node} above How far the visit is.
 * @param {Visit} visit
 * @param {Survey["quote"]} quote
 * @param {(answer: Answer) => void} proceed
 */
export function makeQuestion(page, open, above, visit, quote, proceed) {
  const { makeTitle, makeFields, hint } = findKind(page);
  const head = [makeBack(), above];
  if (page.type === "information") {
    const text = additions.makeText?.(quote(page.text)) ?? [];
    return [...head, ...text, makeButton(say("continue"), () => proceed(1))];
  }
  const title = make("h1", { tabindex: -1 }, makeTitle?.(page, quote) ?? quote(page.text));
  const accept = () => {
    const found = read();
    if (typeof found === "string") showError(group, first(), found);
    else proceed(found);
  };
  const { rows, isQuick, first, read, after = [] } = makeFields(page, visit, quote, accept);
  const legend = make("legend", {}, title);
  const hints = page.type === "declared"
    ? [make("p", { id: "hint", class: "but" }, say("declared"))]
    : hint
    ? [make("p", { id: "hint" }, hint(page))]
    : [];
  const group = make("fieldset", {}, legend, ...makeAssurance(page, open), ...hints, ...rows);
  describe(group);
  group.addEventListener("keydown", ({ key, isComposing, repeat }) => {
    // A key held down on the previous page must not cause an error on this one.
    if (key === "Enter" && !isComposing && !repeat && !isQuick) accept();
  });
  const next = makeButton(say("continue"), accept);
  const box = make("input", { type: "checkbox" });
  box.checked = !!visit.confirms;
  box.onchange = () => {
    visit.confirms = box.checked || undefined;
    next.hidden = !box.checked;
  };
  next.hidden = !!isQuick && !visit.confirms;
  // Offered until the first tap, and to those who return to an answer, unless the author decided.
  const isOffered = visit.confirms !== false || page.name in visit.answers;
  const end = isQuick && isOffered && visit.confirms !== "yes"
    ? [make("label", { class: "again" }, box, ` ${say("confirm")}`)]
    : [];
  return [...head, group, ...end, next, ...after];
}

/**
 * Repeats what the label says about this answer, the mark and the word for its strength first. The
 * sentence stands only on the first of the pages that it is about.
 * @param {Page} page
 * @param {Page[]} open
 */
export function makeAssurance(page, open) {
  /** @param {Page} one */
  const find = ({ name, follows = name }) => label?.querySelector(`[data-names~="${follows}"]`);
  const odds = find(page);
  if (!odds) return [];
  const isFirst = open.find((one) => find(one) === odds)?.name === page.name;
  return [make("div", { id: "odds", class: "quiet" }, ...copyAll(isFirst ? "h2, p" : "h2", odds))];
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
