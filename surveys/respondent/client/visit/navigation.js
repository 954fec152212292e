/**
 * Moves between the pages of a visit. The pages add nothing to the browser's history, because their
 * number there would reveal which questions were asked. All of them share one entry, the guard.
 * Back leaves the guard, so this script notices Back and shows the previous page.
 */
import { walk } from "../report/rules.js";
import { additions } from "./additions.js";
import { makeCheck } from "./check.js";
import { make, makeDetails } from "./elements.js";
import { locate } from "./locating.js";
import { makeQuestion } from "./question.js";
import { isWatched, label, main, opening, pageData, show } from "./screen.js";
import { submit } from "./submitting.js";
import { say } from "./words.js";

/**
 * @import { Page } from "../report/rules.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * Goes to the named page, or to the next one without an answer.
 * @param {Visit} visit
 * @param {string} [name]
 */
export function go(visit, name) {
  visit.trail.unshift(name);
  render(visit);
}

/**
 * Shows the page that the trail names, or the first one without an answer if that comes before it.
 * @param {Visit} visit
 */
function render(visit) {
  const { phase, trail, survey, answers } = visit;
  if (!survey || phase !== "answering" || !trail.length) return show(opening.nodes);
  const { open } = walk(survey.pages, answers);
  const [page, place, most, of] = (additions.locate ?? locate)(survey.pages, open, visit);
  const more = label ? [makeDetails("label", label.cloneNode(true))] : [];
  if (!page) {
    const nodes = makeCheck(open, visit, survey.quote, {
      onChange: (name) => go(visit, name),
      onSubmit: (held) => void submit(visit, survey, held),
    });
    return show([...nodes, ...more], say("check-title"));
  }
  const gaps = { page: place, most, number: page.number, which: place, of };
  // The server wrote only the words that fit: pages are counted instead of questions if a page can
  // have no question or several, or if their number depends on answers.
  const progress = say("most", gaps) || say("drawn", gaps) || say("progress", gaps);
  const above = make("p", { class: "eyebrow" }, progress);
  additions.showWay?.(above, open, page, place, most, survey.quote);
  const nodes = makeQuestion(page, open, above, visit, survey.quote, (answer) => {
    answers[page.name] = answer;
    go(visit);
  });
  // The history stores the title, and the number of a page can depend on answers.
  show([...nodes, ...more], say("most") ? "" : progress);
}

/** @param {Visit} visit */
export function followHistory(visit) {
  let isAhead = false; // the guard, after Back

  const showBefore = () => {
    visit.trail.shift();
    render(visit);
  };

  addEventListener("back", showBefore);

  addEventListener("popstate", () => {
    const { phase, trail } = visit;
    if (history.state || phase === "left" || phase === "submitted") return;
    if (!trail.length) return history.back(); // the opening page was on the screen
    isAhead = true;
    showBefore();
    const touch = trail.length && say("touch");
    if (touch) main.prepend(make("p", { class: "notice", role: "alert" }, touch));
  });

  // Browsers skip entries that a page adds before the person has touched it.
  for (const type of ["click", "keydown"]) {
    addEventListener(type, (event) => {
      const { key, altKey, metaKey } = /** @type {KeyboardEvent} */ (event);
      if (history.state || visit.phase !== "answering" || !visit.trail.length) return;
      if (altKey || metaKey || key === "BrowserBack") return; // which may go back
      if (isAhead) history.forward(); // which is no further visit in the stored history
      else history.pushState?.(1, "");
    });
  }

  addEventListener("pagehide", () => {
    isAhead = false;
    // Browsers may keep the page to show it again, perhaps to another person.
    if (visit.phase !== "answering" || !(isWatched || pageData.shared)) return;
    visit.answers = {};
    visit.trail = [];
    visit.confirms = pageData.confirm;
    visit.phase = "reading";
    render(visit);
  });
}
