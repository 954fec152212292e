/**
 * Fetches the frozen description of the survey. It is refused unless its bytes have the
 * promised fingerprint and its numbers protect the person who answers.
 */
import { checkChannel, checkWhole } from "./randomize.js";
import { leaves } from "./rules.js";

const TYPES = ["yes_no", "choice", "scale", "several", "number", "follow_up", "declared"];
const SMALLEST_BATCH = 10;
const MOST_POINTS = 7; // of a scale that is not rounded like a number
// All codes together change the odds of a guess by e^20 at most.
const LARGEST_TOTAL = 20;

/** Why this page stops. */
export class Refusal extends Error {}

/** @param {Uint8Array} bytes */
export function toBase64url(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} url @param {string} promised @returns {Promise<Manifest>} */
export async function loadManifest(url, promised) {
  const response = await fetch(url, { redirect: "error" });
  if (!response.ok) throw new TypeError(`${url} answered ${response.status}`);
  const bytes = await response.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  if (toBase64url(digest) !== promised) throw new Refusal("changed");
  const manifest = JSON.parse(new TextDecoder().decode(bytes));
  try {
    checkManifest(manifest);
  } catch {
    throw new Refusal("unsafe");
  }
  return manifest;
}

/** Also finds every question's channels and block. @param {Manifest} manifest */
export function checkManifest(manifest) {
  const { format, minimum_batch, display_minimum, questions, drawn } = manifest;
  checkWhole(format, 1, 1);
  checkWhole(minimum_batch, SMALLEST_BATCH, Infinity);
  checkWhole(display_minimum, minimum_batch, Infinity);
  for (const question of questions) question.channels = findChannels(question);
  const count = findBlocks(questions);
  if (drawn !== undefined) checkWhole(drawn, 1, count - 1);
  const losses = Array(count).fill(0);
  for (const one of questions) if (one.block >= 0) losses[one.block] += measure(one);
  const largest = losses.sort((a, b) => b - a).slice(0, drawn);
  demand(largest.reduce((sum, loss) => sum + loss) <= LARGEST_TOTAL);
  manifest.blocks = count;
}

/** How each symbol is sent. @param {Question} question @returns {(Channel | null)[]} */
function findChannels(question) {
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
    checkWhole(extras, 0, 0);
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

/** Scrambled questions that rules tie together share a block. @param {Question[]} questions */
function findBlocks(questions) {
  /** How many codes rules may name, and of which question. @type {Map<string, number[]>} */
  const known = new Map();
  let tied = questions.map(({ channels }, i) => (channels[0] ? i : -1));
  questions.forEach(({ name, type, options = [], rule }, i) => {
    for (const leaf of rule ? leaves(rule) : []) {
      const [count, owner] = known.get(leaf.name) ?? [0, i];
      demand(owner < i);
      for (const code of leaf.is) checkWhole(code, 0, count - 1);
      const [own, other] = [tied[i], tied[owner]];
      if (own >= 0 && other >= 0) tied = tied.map((block) => (block === other ? own : block));
    }
    const parts = type === "several" ? options.map(({ code }) => `${name}_${code}`) : [];
    for (const part of [name, ...parts]) {
      demand(!known.has(part));
      known.set(part, [parts.length ? 2 : options.length, i]);
    }
  });
  const blocks = [...new Set(tied)].filter((block) => block >= 0);
  questions.forEach((question, i) => (question.block = blocks.indexOf(tied[i])));
  return blocks.length;
}

/** How much its codes can tell: the logarithm of the odds. @param {Question} question */
function measure({ type, channels, options = [], limit = Infinity }) {
  // If at most r can be chosen, two answers differ in at most 2r places.
  const equal = type === "several" ? Math.max(0, options.length - 2 * limit) : 0;
  return channels.slice(0, channels.length - equal).reduce((sum, channel) => {
    const { k, threshold } = /** @type {Channel} */ (channel);
    return sum + Math.log((threshold * (k - 1)) / (2 ** 32 - threshold));
  }, 0);
}

/** @param {boolean} condition */
function demand(condition) {
  if (!condition) throw new RangeError("the manifest is broken");
}
