/** Shows what happened to the report, and the report itself. */
import { sha256 } from "../report/hashing.js";
import { make, makeButton, makeDetails } from "./elements.js";
import { isWatched, label, pageData, show } from "./screen.js";
import { findWords, say } from "./words.js";

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
    if (!isWatched) document.title = `${heading.textContent} · ${pageData.title}`;
    const buttons = Object.entries(actions).map(([word, then]) => makeButton(say(word), then));
    for (const other of buttons.slice(1)) other.classList.add("plain");
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
    const receipt = makeDetails("receipt-title", ...parts, ...odds);
    receipt.open = pageData.mode === "disk";
    act.append(receipt, ...more);
  };
  show([make("section", { class: "label over" }, heading, sentence, act)], pageData.title);
  return { announce, showReceipt };
}
