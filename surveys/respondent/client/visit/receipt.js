/** Makes the receipt: what was sent, with the letters that each answer became. */
import { sha256 } from "../report/hashing.js";
import { copyAll, make, makeButton } from "./elements.js";
import { label, pageData } from "./screen.js";
import { loadSurvey } from "./survey.js";
import { say } from "./words.js";

/**
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * Returns the code, and what there is to know about it.
 * @param {string} body
 * @param {Visit} visit
 */
export async function makeReceipt(body, visit) {
  const digest = [...(await sha256(new TextEncoder().encode(body)))];
  const hex = digest.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const [bytes, print] = [body, hex].map((text) => make("code", { dir: "ltr" }, text));
  // After a reload, the questions are not there yet. The receipt does without them if it must.
  const survey = visit.survey ?? await loadSurvey(null).catch(() => null);
  return {
    code: [bytes, ...makeCopy(body)],
    facts: [
      ...(survey ? listLetters(body, survey) : []),
      make("p", {}, say("hash")),
      print,
      ...copyAll(".odds, .shows", label),
    ],
  };
}

/**
 * @param {string} body
 * @param {Survey} survey
 */
function listLetters(body, { questions, quote }) {
  let place = 0;
  /** @type {string} */
  const symbols = JSON.parse(body).symbols;
  const rows = questions.filter(({ number }) => number).map((question) => {
    const { text, type, follow_up, channels } = question;
    const words = [text, follow_up ?? ""].map(quote);
    const letters = [...symbols.slice(place, place += channels.length)];
    const dd = make("dd", {}, make("bdi", {}, letters.join(" ")));
    if (type === "declared") dd.append(make("small", {}, say("plain")));
    if (letters[0] === "~") dd.append(make("small", {}, say("unasked")));
    return make("div", {}, make("dt", {}, words[0], " ", words[1]), dd);
  });
  return [make("p", {}, say("letters")), make("dl", { class: "checks letters" }, ...rows)];
}

/** @param {string} text */
function makeCopy(text) {
  const copied = make("p", { "aria-live": "polite" });
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.textContent = say("copied");
  };
  // Without the clipboard, the text can still be selected.
  if (!navigator.clipboard) return [];
  const button = makeButton(say("copy"), () => void copy());
  if (pageData.mode !== "disk") button.classList.add("plain");
  return [button, copied];
}
