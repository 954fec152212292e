/**
 * Draws the report: one scrambled code for each symbol, and a random id that identifies retries.
 */
import { cryptoUint32, randomizeReport } from "../randomize.js";
import { toBase64url } from "./hashing.js";
import { walk } from "./rules.js";

/**
 * @import { Latent } from "../randomize.js"
 * @import { Question } from "./manifest.js"
 * @import { Answers, Codes, Page } from "./rules.js"
 *
 * @typedef {object} Envelope
 * @property {string} manifest The hash of the manifest.
 * @property {string} id
 * @property {string} symbols
 */

/**
 * Writes a code as a letter: A for 0, B for 1, and so on through the alphabet of base64url.
 * @param {number} code
 */
export const toLetter = (code) => toBase64url([code << 2])[0];

/**
 * Finds the true code of each symbol of a question. A code that is undefined cannot be sent.
 * @param {Question} question
 * @param {Codes} codes
 * @param {boolean} isAsked
 * @returns {Latent[]}
 */
export function findLatents(question, codes, isAsked) {
  const { name, type, options = [], channels, minimum = 0, rule, refusal, isDrawn } = question;
  const [first] = channels;
  if (!isDrawn || first === undefined) return channels.map(() => null);
  const isSeveral = type === "several";
  const own = codes[isSeveral ? `${name}_1` : name];
  // The codes of answers come first, then those of a refusal and of a question not asked.
  const { k = 0 } = first ?? question;
  const last = k - 1;
  const refused = refusal && own === undefined ? last - Number(!!rule) : undefined;
  const missing = isAsked ? refused : last;
  if (isSeveral) {
    const items = options.map(({ code }) => (missing ? 0 : codes[`${name}_${code}`]));
    return channels.length > items.length ? [missing ?? 0, ...items] : items;
  }
  return [first?.maximum === undefined ? (missing ?? own) : { value: own ?? minimum, missing }];
}

/**
 * @param {string} manifest
 * @param {Question[]} questions
 * @param {Page[]} pages
 * @param {Answers} answers
 * @returns {Envelope}
 */
export function drawEnvelope(manifest, questions, pages, answers) {
  const id = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const { open, codes } = walk(pages, answers);
  const names = open.map(({ name }) => name);
  const latents = questions.flatMap((one) => findLatents(one, codes, names.includes(one.name)));
  const channels = questions.flatMap((one) => one.channels);
  const drawn = randomizeReport(latents, channels, cryptoUint32);
  const symbols = drawn.map((code) => (code === null ? "~" : toLetter(code))).join("");
  return { manifest, id, symbols };
}

/**
 * Writes the body that is sent. Every attempt sends the same bytes.
 * @param {Envelope} envelope
 */
export const encode = ({ manifest, id, symbols }) =>
  `{"format":1,"manifest":"${manifest}","id":"${id}","symbols":"${symbols}"}`;
