/** What became of the report, and the report itself for whoever wants to see it. */
import { sha256 } from "../report/bytes.js";
import { fold, make, makeButton } from "./elements.js";
import { given, label, show } from "./screen.js";
import { findWords, say } from "./words.js";

/**
 * @import { Tell } from "../report/sending.js"
 * @import { Visit } from "./visit.js"
 *
 * @typedef {ReturnType<typeof openOutcome>} Outcome
 */

/**
 * Shows the last page, from which nothing leads back.
 * @param {Visit} visit
 */
export function openOutcome(visit) {
  visit.phase = "submitted";
  const heading = make("h1", { tabindex: -1 });
  const sentence = make("p", { role: "status", class: "outcome" });
  const act = make("div");
  /** @type {Tell} */
  const tell = (name, stay = "", actions = {}) => {
    const isLost = !heading.textContent || act.contains(document.activeElement);
    heading.textContent = say(`${name}-title`) || say("waiting");
    if (isLost) heading.focus();
    sentence.textContent = `${say(name)} ${say(stay)}`.trim();
    document.title = `${heading.textContent} · ${given.title}`;
    const buttons = Object.entries(actions).map(([word, then]) => makeButton(say(word), then));
    act.replaceChildren(...buttons);
    const closing = /sent|before/.test(name) && findWords("closing");
    if (closing) act.append(make("p", { class: "intro closing", dir: "auto" }, closing));
  };
  /**
   * @param {string} body
   * @param {...Node} more
   */
  const showReceipt = async (body, ...more) => {
    const digest = [...(await sha256(new TextEncoder().encode(body)))];
    const hex = digest.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const odds = [...(label?.querySelectorAll(".odds") ?? [])].map((one) => one.cloneNode(true));
    const [bytes, print] = [body, hex].map((text) => make("code", { dir: "ltr" }, text));
    const parts = [make("p", {}, say("receipt")), bytes, make("p", {}, say("hash")), print];
    const receipt = fold("receipt-title", ...parts, ...odds);
    receipt.open = given.mode === "disk";
    act.append(receipt, ...more);
  };
  show([make("section", { class: "label over" }, heading, sentence, act)], given.title);
  return { tell, showReceipt };
}
