/** Loads the survey as this person sees it: checked, with their questions and in their language. */
import { cryptoUint32, drawBlocks } from "../randomize.js";
import { loadManifest, readWhole } from "../report/manifest.js";
import { listPages, markDrawn } from "../report/rules.js";
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
 * @property {boolean} isDrawn Whether each person is asked a random part of the questions.
 * @property {(text: string) => HTMLElement} quote Makes an element with words of the author, translated if possible.
 */

/**
 * @param {Keeper | null} keeper
 * @returns {Promise<Survey>}
 */
export async function loadSurvey(keeper) {
  const manifest = await loadManifest(pageData.manifest, pageData.hash);
  const { blocks, drawn, questions, translations = {}, consent = "", minimum_age } = manifest;
  const promised = translations[pageData.language];
  const bytes = new TextEncoder().encode(findWords("own"));
  /** @type {Map<string, string>} */
  const translated = new Map(promised ? Object.entries(await readWhole(bytes, promised)) : []);
  if (drawn) markDrawn(questions, await findDrawn(keeper, blocks, drawn));
  else markDrawn(questions);
  let number = 0;
  for (const one of questions) {
    one.number = one.type === "information" ? 0 : (number += 1);
  }
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
  const pages = listPages(questions, ours);
  if (consent || minimum_age) {
    const name = "consent"; // of no question, so no code depends on it
    const fixed = { channels: [], block: -1, isDrawn: true, number: 0 };
    pages.unshift({ name, type: name, text: consent, minimum: minimum_age, ...fixed });
  }
  return { questions, pages, isDrawn: !!drawn, quote };
}

/**
 * Finds the blocks that this person is asked, which are drawn once for each browser.
 * @param {Keeper | null} keeper
 * @param {number} blocks
 * @param {number} drawn
 */
async function findDrawn(keeper, blocks, drawn) {
  const draw = () => drawBlocks(blocks, drawn, cryptoUint32);
  if (!keeper) return draw();
  await keeper.sealBlocks(draw);
  return keeper.readBlocks();
}
