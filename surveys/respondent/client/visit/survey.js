/** Loads the survey as this person sees it: checked, with their questions and in their language. */
import { loadManifest, readWhole } from "../report/manifest.js";
import { listPages } from "../report/rules.js";
import { additions } from "./additions.js";
import { pageData } from "./screen.js";
import { findWords, say } from "./words.js";

/**
 * @import { Keeper } from "../report/keeper.js"
 * @import { Question } from "../report/manifest.js"
 * @import { Page } from "../report/rules.js"
 *
 * @typedef {object} Survey
 * @property {Question[]} questions
 * @property {Page[]} pages
 * @property {boolean} isWhole Whether the script has the parts without which more would be asked
 *   than promised, or earlier than it should be.
 * @property {(text: string) => HTMLElement} quote Makes an element with words of the author, translated if possible.
 */

/**
 * @param {Keeper | null | undefined} keeper
 * @returns {Promise<Survey>}
 */
export async function loadSurvey(keeper) {
  const manifest = await loadManifest(pageData.manifest, pageData.hash, additions.readScores);
  const { questions, translations = {}, drawn, consent, minimum_age } = manifest;
  const promised = translations[pageData.language];
  const bytes = new TextEncoder().encode(findWords("own"));
  /** @type {Map<string, string>} */
  const translated = new Map(promised ? Object.entries(await readWhole(bytes, promised)) : []);
  let number = 0;
  for (const one of questions) {
    one.isDrawn = true;
    one.number = one.type === "information" ? 0 : (number += 1);
  }
  await additions.drawPart?.(keeper, manifest);
  const ours = [say("no"), say("yes")];

  /** @param {string} text */
  const quote = (text) => {
    const found = translated.get(text);
    const span = document.createElement("span");
    span.lang = found ? document.documentElement.lang : manifest.language;
    span.dir = "auto";
    span.textContent = found ?? text;
    return span;
  };
  const listed = [...(additions.preface?.(manifest) ?? []), ...listPages(questions, ours)];
  const pages = additions.split?.(listed) ?? listed;
  const isWhole = !(drawn && !additions.drawPart) &&
    !(!additions.readScores && questions.some(({ score }) => score)) &&
    !((consent || minimum_age) && !additions.preface);
  return { questions, pages, isWhole, quote };
}
