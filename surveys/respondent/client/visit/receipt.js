/** Makes the receipt: which letters were sent for each answer, and what they stand for. */
import { toLetter } from "../report/envelope.js";
import { copyAll, make } from "./elements.js";
import { findKind, listMeanings } from "./fields.js";
import { label } from "./screen.js";
import { loadSurvey } from "./survey.js";
import { say } from "./words.js";

/**
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * Returns all that a receipt says about a code.
 * @param {string} body
 * @param {Visit} visit
 */
export async function makeReceipt(body, visit) {
  // After a reload, the questions are not there yet. The receipt does without them if it must.
  const survey = visit.survey ?? await loadSurvey(null).catch(() => null);
  return [...(survey ? listLetters(body, survey) : []), ...copyAll(".odds, .shows", label)];
}

/**
 * @param {string} body
 * @param {Survey} survey
 */
function listLetters(body, { pages, quote }) {
  let place = 0;
  /** @type {string} */
  const symbols = JSON.parse(body).symbols;
  const rows = pages.filter(({ number, follows }) => number && !follows).map((page) => {
    const { text, type, follow_up, channels } = page;
    const words = [text, follow_up ?? ""].map(quote);
    const letters = [...symbols.slice(place, place += channels.length)];
    const dd = make("dd");
    const isAsked = letters[0] !== "~";
    const lists = isAsked
      ? (findKind(page).spell ?? listMeanings)(page, quote)
      : [[say("unasked")]];
    lists.forEach((meanings, n) => {
      /** @type {(Node | string)[]} */
      const told = [];
      meanings.forEach((one, i) => {
        const letter = isAsked ? `${toLetter(i)} = ` : "";
        if (one) told.push(told.length ? " · " : "", make("bdi", {}, letter, one));
      });
      const own = letters.splice(0, lists[n + 1] ? 1 : letters.length);
      dd.append(make("bdi", {}, own.join(" ")), make("small", {}, ...told));
    });
    if (type === "declared") dd.append(...copyAll(".but", label));
    return make("div", {}, make("dt", {}, words[0], " ", words[1]), dd);
  });
  return [make("p", {}, say("letters")), make("dl", { class: "checks letters" }, ...rows)];
}
