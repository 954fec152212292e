/** Makes the page on which a person checks their answers before they are scrambled. */
import { additions } from "./additions.js";
import { copyAll, make, makeBack, makeButton, makeLink } from "./elements.js";
import { findKind } from "./fields.js";
import { label, pageData } from "./screen.js";
import { say } from "./words.js";

/**
 * @import { Page } from "../report/rules.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * @param {Page[]} open
 * @param {Visit} visit
 * @param {Survey["quote"]} quote
 * @param {{ onChange: (name: string) => void, onSubmit: (held: boolean) => void }} actions
 */
export function makeCheck(open, visit, quote, { onChange, onSubmit }) {
  const asked = open.filter(({ number }) => number);
  const rows = asked.map((page) => {
    const { name, text, type, follows = name } = page;
    const again = makeLink(say("change"), () => onChange(name), "again");
    again.append(make("span", { class: "visually-hidden" }, say("change-what"), quote(text)));
    const answer = visit.answers[name];
    const words = answer === null ? [say("refusal")] : findKind(page).describe(page, answer, quote);
    const odds = `[data-names~="${follows}"] :is(.light, .hardly)`;
    const warning = type === "declared" ? ".but" : odds;
    const chosen = make("dd", {}, ...words, ...copyAll(warning, label));
    return make("div", {}, make("dt", {}, quote(text)), chosen, make("dd", {}, again));
  });
  const list = additions.fold?.(open, rows, visit, quote, makeEnd(onSubmit)) ??
    make("dl", { class: "checks" }, ...rows);
  const plain = asked.filter(({ type }) => type === "declared").length;
  return [
    makeBack(),
    make("h1", { tabindex: -1 }, say("check-title")),
    make("p", {}, say(plain ? "mixed" : "check"), plain % asked.length ? say("others") : ""),
    makeCover(list, visit),
    list,
    ...makeEnd(onSubmit),
  ];
}

/**
 * Makes the button that hides the whole list, because the questions asked also reveal some answers.
 * @param {HTMLElement} list
 * @param {Visit} visit
 */
function makeCover(list, visit) {
  const cover = makeButton("", () => turn(!visit.isCovered));
  /** @param {boolean} isCovered */
  const turn = (isCovered) => {
    visit.isCovered = list.hidden = isCovered;
    cover.textContent = say(isCovered ? "show" : "hide");
  };
  turn(visit.isCovered);
  cover.classList.add("plain");
  return make("p", {}, cover);
}

/**
 * Makes the ways to submit. Submitting later comes first if the time taken to answer could reveal
 * something.
 * @param {(held: boolean) => void} onSubmit
 */
function makeEnd(onSubmit) {
  const sooner = makeButton(say("submit"), () => onSubmit(false));
  if (pageData.mode === "disk") return [sooner];
  const later = () => onSubmit(true);
  const urged = say("urge-hold");
  if (!urged) {
    const why = make("p", { class: "print" }, say("why-hold"));
    return [sooner, why, makeLink(say("hold"), later, "again")];
  }
  sooner.classList.add("plain");
  return [make("p", { class: "notice" }, urged), makeButton(say("hold"), later), sooner];
}
