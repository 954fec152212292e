/** Shows what happened to the report, also to a person who comes back, and its receipt. */
import { additions } from "./additions.js";
import { copyAll, make, makeButton, makeDetails } from "./elements.js";
import { makeReceipt } from "./receipt.js";
import { entitle, pageData, show } from "./screen.js";
import { findWords, say, template } from "./words.js";

/**
 * @import { Announce } from "../report/sending.js"
 * @import { Visit } from "./visit.js"
 *
 * @typedef {ReturnType<typeof openOutcome>} Outcome
 */

/**
 * Opens the last page of the visit. There is no way back from it.
 * @param {Visit} visit
 */
export function openOutcome(visit) {
  visit.phase = "submitted";
  const heading = make("h1", { tabindex: -1 });
  const sentence = make("p", { role: "status", class: "outcome" });
  const act = make("div");
  /** @type {Announce} */
  const announce = (name, stay = "", actions = {}) => {
    const isLost = !heading.textContent || act.contains(document.activeElement);
    heading.textContent = say(`${name}-title`) || say("waiting");
    if (isLost) heading.focus();
    sentence.textContent = `${say(name)} ${say(stay)}`.trim();
    entitle(heading.textContent);
    const buttons = Object.entries(actions).map(([word, then]) => makeButton(say(word), then));
    for (const other of buttons.slice(1)) other.classList.add("plain");
    act.replaceChildren(...buttons);
    if (name === "closed") act.append(...copyAll("#after", template));
    if (!/sent|before|other/.test(name)) return;
    const closing = findWords("closing");
    if (closing) act.append(make("p", { class: "intro closing", dir: "auto" }, closing));
    act.append(...copyAll("footer .help"));
    if (name === "before") act.append(...copyAll("#somebody", template));
    act.append(...(additions.makeRoom?.(visit) ?? []));
  };
  /**
   * @param {string} body
   * @param {...Node} more What belongs to a code that the person still has to hand in.
   */
  const showReceipt = async (body, ...more) => {
    // A code that an earlier page drew may be another person's.
    if (pageData.shared && !visit.survey && !more.length) return;
    act.append(...more, makeDetails("receipt-title", ...await makeReceipt(body, visit)));
  };
  show([make("section", { class: "label over" }, heading, sentence, act)]);
  return { announce, showReceipt };
}
