/**
 * Loads the frozen description of a survey, compares it with its hash and checks it. The page
 * asks nothing if the survey would not protect its respondents.
 */
import { checkWhole } from "../randomize.js";
import { findBlocks } from "./blocks.js";
import { sha256, toBase64url } from "./hashing.js";
import { demand, findChannels, measure } from "./channels.js";
import { within } from "./timing.js";

/**
 * @import { Channel } from "../randomize.js"
 * @import { Rule } from "./rules.js"
 *
 * @typedef {object} Option
 * @property {number} code
 * @property {string} text
 * @property {boolean} [isOurs] Whether it is Murmur's Yes or No, in the language of the page.
 *
 * @typedef {object} Described A question as the manifest describes it.
 * @property {string} name
 * @property {string} type
 * @property {string} text
 * @property {number} [k]
 * @property {number} [threshold]
 * @property {number} [gate_threshold]
 * @property {Option[]} [options]
 * @property {boolean} [refusal]
 * @property {Rule} [rule]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {string} [unit]
 * @property {string} [low_label]
 * @property {string} [high_label]
 * @property {number} [limit]
 * @property {string} [follow_up]
 * @property {boolean} [together] Whether it shares a screen with the question before it.
 * @property {Score} [score] How the answer is computed from items. `type` is what carries it.
 *
 * @typedef {object} Score
 * @property {{ text: string, weight?: number, reversed?: boolean }[]} items
 * @property {{ text: string, value: number }[]} options The answers that all items share.
 * @property {string} [of] The scale that a second code is about, whose items it counts.
 * @property {number[]} [bounds] Without them, the total is the answer. Otherwise the answer is how
 *   many of them the total reaches.
 *
 * @typedef {object} Found What this page derives from the description.
 * @property {(Channel | null)[]} channels One for each symbol; null if it is sent unscrambled.
 * @property {number} block -1 if the question is always asked.
 * @property {boolean} isDrawn Whether this person is asked.
 * @property {number} number 0 for a text without a question.
 * @property {(chosen: number[]) => number} [count] Computes the answer of a score (client/parts/score.js).
 *
 * @typedef {Described & Found} Question
 *
 * @typedef {object} Manifest
 * @property {number} format
 * @property {string} language
 * @property {Record<string, string>} [translations] The hash of each language's words.
 * @property {number} minimum_batch
 * @property {number} display_minimum
 * @property {Question[]} questions
 * @property {number} [drawn] How many blocks are drawn for each person.
 * @property {string} [consent] What people agree to before the first question.
 * @property {number} [minimum_age]
 * @property {number} blocks Set by `checkManifest`.
 */

const SMALLEST_BATCH = 10;
const LARGEST_TOTAL = 20; // ε

export class Refusal extends Error {}

/**
 * Reads JSON and compares it with the promised hash.
 * @param {BufferSource} bytes
 * @param {string} promised
 */
export async function readWhole(bytes, promised) {
  if (toBase64url(await sha256(bytes)) !== promised) throw new Refusal("changed");
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** @param {string} url */
async function fetchWhole(url) {
  const response = await fetch(url, { redirect: "error" });
  demand(response.ok);
  return response.arrayBuffer();
}

/**
 * @param {string} url
 * @param {string} promised
 * @param {(manifest: Manifest) => void} [check] Throws if more is wrong than `checkManifest` sees.
 * @returns {Promise<Manifest>}
 */
export async function loadManifest(url, promised, check) {
  const manifest = await readWhole(await within(20, fetchWhole(url)), promised);
  try {
    checkManifest(manifest);
    check?.(manifest);
  } catch {
    throw new Refusal("unsafe");
  }
  return manifest;
}

/**
 * Throws if the manifest is broken or protects too little. Adds its channels and blocks.
 * @param {Manifest} manifest
 */
export function checkManifest(manifest) {
  const { format, minimum_batch, display_minimum, questions } = manifest;
  checkWhole(format, 1, 1);
  checkWhole(minimum_batch, SMALLEST_BATCH, Infinity);
  checkWhole(display_minimum, minimum_batch, Infinity);
  for (const question of questions) question.channels = findChannels(question);
  manifest.blocks = findBlocks(questions);
  checkBlocks(manifest);
}

/**
 * Throws if the blocks that can be drawn reveal too much together.
 * @param {Manifest} manifest
 */
export function checkBlocks({ questions, drawn, blocks }) {
  if (drawn !== undefined) checkWhole(drawn, 1, blocks - 1);
  /** @type {number[]} */
  const losses = Array(blocks).fill(0);
  for (const one of questions) if (one.block >= 0) losses[one.block] += measure(one);
  const largest = losses.sort((a, b) => b - a).slice(0, drawn);
  demand(largest.reduce((sum, loss) => sum + loss) <= LARGEST_TOTAL);
}
