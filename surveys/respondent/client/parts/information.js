/**
 * A text between questions. Its first line is the heading if an empty line follows, or if it stands
 * alone, is short and is no sentence. The questions after a heading are a section.
 */
import { additions } from "../visit/additions.js";
import { make } from "../visit/elements.js";
import { say } from "../visit/words.js";

const LINE = /^\s*(\S.{0,58}[^\s.!?:…。！？؟])()\s*$/;

/**
 * @param {HTMLElement} text
 * @returns {HTMLElement[]} The heading, if there is one, and what follows it.
 */
const findHeading = (text) => {
  const words = text.textContent ?? "";
  const found = /^\s*(\S.*)\s*\n\s*\n\s*([^]+)/.exec(words) ?? LINE.exec(words);
  if (!found) return [];
  const heading = /** @type {HTMLElement} */ (text.cloneNode());
  [, heading.textContent, text.textContent] = found;
  return [heading];
};

additions.makeText = (text) => {
  const [heading = say("read")] = findHeading(text);
  return [make("h1", { tabindex: -1 }, heading), make("p", { class: "intro" }, text)];
};

additions.findHeading = findHeading;
