/** A text between questions. Its first line is the heading if an empty line follows. */
import { additions } from "../visit/additions.js";
import { make } from "../visit/elements.js";
import { say } from "../visit/words.js";

additions.makeText = (text) => {
  const found = /^\s*(\S.*)\s*\n\s*\n\s*([^]+)/.exec(text.textContent ?? "");
  const heading = /** @type {HTMLElement} */ (text.cloneNode());
  if (found) [, heading.textContent, text.textContent] = found;
  const title = make("h1", { tabindex: -1 }, found ? heading : say("read"));
  return [title, make("p", { class: "intro" }, text)];
};
