/** Works out how the symbols of a question are scrambled, and what that reveals. */
import { checkChannel, checkWhole } from "../randomize.js";

/**
 * @import { Channel } from "../randomize.js"
 * @import { Described, Question } from "./manifest.js"
 */

const TYPES = ["yes_no", "choice", "scale", "several", "number", "follow_up", "declared"];
const MOST_POINTS = 7; // longer scales are rounded like numbers

/** @param {boolean} condition */
export function demand(condition) {
  if (!condition) throw new RangeError();
}

/**
 * @param {Described} question
 * @returns {(Channel | null)[]}
 */
export function findChannels(question) {
  const { type, k = 0, threshold = 0, options = [], refusal, rule, limit = 1 } = question;
  const { minimum = NaN, maximum = NaN, gate_threshold = 0 } = question;
  if (type === "information") return [];
  const isSeveral = type === "several";
  const points = maximum - minimum + 1;
  const isRounded = type === "number" || (type === "scale" && points > MOST_POINTS);
  const codes = options.map(({ code }) => code).sort((a, b) => a - b);
  const answers = isRounded || isSeveral ? 2 : codes.length;
  const extras = Number(!!refusal) + Number(!!rule);
  demand(TYPES.includes(type) && k === answers + (isSeveral ? 0 : extras));
  demand(codes.every((code, i) => code === i + Number(isSeveral)));
  checkWhole(limit, 1, Infinity);
  if (type === "scale" && !isRounded) checkWhole(answers, points, points);
  if (type === "follow_up") checkWhole(answers, 3, 3);
  if (type === "declared") {
    demand(!rule); // "not asked" would reveal another answer
    checkWhole(k, 2, 64);
    return [null];
  }
  if (isRounded) {
    checkWhole(minimum, -Infinity, Infinity);
    checkWhole(codes.length, 0, 0);
    checkWhole(points, 2, 2 ** 20);
  }
  const channel = isRounded ? { k, threshold, minimum, maximum } : { k, threshold };
  const gate = isSeveral && extras ? [{ k: extras + 1, threshold: gate_threshold }] : [];
  const channels = [...gate, ...(isSeveral ? codes.map(() => channel) : [channel])];
  channels.forEach(checkChannel);
  return channels;
}

/**
 * Returns ε of a question, which must be scrambled.
 * @param {Question} question
 */
export function measure({ type, channels, options = [], limit = Infinity }) {
  // If at most r options can be chosen, two answers differ in at most 2r symbols.
  const equal = type === "several" ? Math.max(0, options.length - 2 * limit) : 0;
  const scrambled = /** @type {Channel[]} */ (channels);
  return scrambled.slice(0, scrambled.length - equal).reduce((sum, { k, threshold }) => {
    return sum + Math.log((threshold * (k - 1)) / (2 ** 32 - threshold));
  }, 0);
}
