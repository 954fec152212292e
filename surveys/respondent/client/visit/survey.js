/** The survey as this person sees it: loaded, checked, drawn and in their language. */
import { cryptoUint32, drawBlocks } from "../randomize.js";
import { loadManifest, readWhole } from "../report/manifest.js";
import { listPages, markDrawn } from "../report/walk.js";
import { given } from "./screen.js";
import { findWords, say } from "./words.js";

/**
 * @import { Keeper } from "../report/keeper.js"
 * @import { Question } from "../report/manifest.js"
 * @import { Page } from "../report/walk.js"
 *
 * @typedef {object} Survey
 * @property {Question[]} questions
 * @property {Page[]} pages
 * @property {boolean} isDrawn Whether people are asked different questions.
 * @property {(text: string) => HTMLElement} own Shows the author's words.
 */

/**
 * @param {Keeper | null} keeper
 * @returns {Promise<Survey>}
 */
export async function loadSurvey(keeper) {
  const manifest = await loadManifest(given.manifest, given.hash);
  const { blocks, drawn, questions, translations = {} } = manifest;
  const promised = translations[given.language];
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
  const own = (text) => {
    const found = translated.get(text);
    const span = document.createElement("span");
    span.lang = found || ours.includes(text) ? document.documentElement.lang : manifest.language;
    span.dir = "auto";
    span.textContent = found ?? text;
    return span;
  };
  return { questions, pages: listPages(questions, ours), isDrawn: !!drawn, own };
}

/**
 * The blocks that this person is asked; drawn once for each browser.
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
