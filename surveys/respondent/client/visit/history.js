/** Moves between the steps of a visit. The browser's history contains only their numbers. */
import { walk } from "../report/rules.js";
import { makeCheck } from "./check.js";
import { makeDetails } from "./elements.js";
import { makeQuestion } from "./question.js";
import { label, opening, pageData, show } from "./screen.js";
import { submit } from "./submitting.js";
import { say } from "./words.js";

/**
 * @import { Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * Goes to the named page, or to the next one without an answer.
 * @param {Visit} visit
 * @param {Survey} survey
 * @param {string} [name]
 */
export function go(visit, survey, name) {
  const { open, next } = findOpenPages(visit, survey);
  visit.step += 1;
  visit.trail.length = visit.step;
  visit.trail[visit.step] = name ?? open[next]?.name ?? "check";
  history.pushState({ step: visit.step }, "");
  render(visit);
}

/**
 * Finds the open pages, and the place of the first one without an answer.
 * @param {Visit} visit
 * @param {Survey} survey
 */
function findOpenPages({ answers }, { pages }) {
  const { open } = walk(pages, answers);
  const gap = open.findIndex(({ name }) => answers[name] === undefined);
  return { open, next: gap < 0 ? open.length : gap };
}

/**
 * Shows the current step, or the last one that can be reached.
 * @param {Visit} visit
 */
function render(visit) {
  const { phase, trail, step, survey } = visit;
  if (!survey || phase !== "answering" || !trail[step]) return show(opening.nodes, opening.title);
  const { open, next } = findOpenPages(visit, survey);
  const found = open.findIndex(({ name }) => name === trail[step]);
  const place = found < 0 ? next : Math.min(found, next);
  const page = open[place];
  const asked = open.filter(({ number }) => number);
  const more = label ? [makeDetails("label", label.cloneNode(true))] : [];
  if (!page) {
    const nodes = makeCheck(asked, visit, survey.quote, {
      onChange: (name) => go(visit, survey, name),
      onSubmit: (held) => void submit(visit, survey, held),
    });
    return show([...nodes, ...more], `${say("check-title")} · ${pageData.title}`);
  }
  const progress = describeProgress(page, open, survey);
  const name = countsPages(survey) ? say("page", { page: place + 1 }) : progress;
  const nodes = makeQuestion(page, progress, visit, survey.quote, (answer) => {
    visit.answers[page.name] = answer;
    go(visit, survey);
  });
  show([...nodes, ...more], `${name} · ${pageData.title}`);
}

/**
 * Whether pages are counted instead of questions: some have none, or their number depends on answers.
 * @param {Survey} survey
 */
const countsPages = ({ pages }) => pages.some(({ rule, number }) => rule || !number);

/**
 * @param {Page} page
 * @param {Page[]} open
 * @param {Survey} survey
 */
function describeProgress(page, open, survey) {
  const { pages, isDrawn } = survey;
  const place = open.indexOf(page) + 1;
  if (countsPages(survey)) {
    const later = pages.slice(pages.indexOf(page) + 1).filter((one) => one.isDrawn);
    return say("most", { page: place, most: place + later.length });
  }
  const gaps = { number: page.number, which: place, of: open.length };
  return say(isDrawn ? "drawn" : "progress", gaps);
}

/** @param {Visit} visit */
export function followHistory(visit) {
  addEventListener("popstate", (event) => {
    if (visit.phase === "left") return;
    visit.step = Number(event.state?.step) || 0;
    if (visit.phase !== "submitted") {
      if (visit.survey) render(visit);
    } else if (visit.trail.length) {
      // Hides how many steps there were.
      visit.trail = [];
      visit.step = 1;
      history.pushState({ step: visit.step }, "");
    }
  });
  addEventListener("pagehide", () => {
    if (visit.phase !== "answering") return;
    // Browsers may keep the page to show it again.
    visit.answers = {};
    visit.trail = [];
    visit.phase = "reading";
    render(visit);
  });
  // After a reload, earlier steps of this visit are still behind this one.
  visit.step = Number(history.state?.step) || 0;
  history.replaceState({ step: visit.step }, "");
}
