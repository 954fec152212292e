/**
 * Fetches the frozen description of the survey. It is refused unless its bytes have the
 * promised fingerprint and its numbers protect the person who answers.
 */
import { checkChannel } from "./randomize.js";

const TYPES = ["yes_no"];
const SMALLEST_BATCH = 10;
// All codes together may not change the odds of a guess by more than e^20.
const LARGEST_TOTAL = 20;
const CHANGED = "The questions are not the ones this page promised. Load the page again.";
const UNSAFE = "This survey would not protect you well enough. So this page will not ask you.";

/** Why this page stops, in a sentence for the person who answers. */
export class Refusal extends Error {}

/** @param {Uint8Array} bytes */
export function toBase64url(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * @param {string} url @param {string} promised  SHA-256 of the bytes, in base64url
 * @returns {Promise<Manifest>}
 */
export async function loadManifest(url, promised) {
  const response = await fetch(url, { redirect: "error" });
  if (!response.ok) throw new TypeError(`${url} answered ${response.status}`);
  const bytes = await response.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  if (toBase64url(digest) !== promised) throw new Refusal(CHANGED);
  const manifest = JSON.parse(new TextDecoder().decode(bytes));
  try {
    checkManifest(manifest);
  } catch {
    throw new Refusal(UNSAFE);
  }
  return manifest;
}

/** @param {Manifest} manifest */
export function checkManifest({ format, minimum_batch, display_minimum, questions }) {
  demand(format === 1);
  demand(Number.isInteger(minimum_batch) && minimum_batch >= SMALLEST_BATCH);
  demand(display_minimum >= minimum_batch);
  demand(questions.length > 0);
  demand(questions.reduce((sum, question) => sum + measure(question), 0) <= LARGEST_TOTAL);
}

/** How much a code can tell: the logarithm of the odds. @param {Question} question */
function measure(question) {
  const { type, k, threshold, options } = question;
  checkChannel(question);
  demand(TYPES.includes(type) && options.length === k);
  const codes = options.map(({ code }) => code).sort((a, b) => a - b);
  demand(codes.every((code, i) => code === i));
  return Math.log((threshold * (k - 1)) / (2 ** 32 - threshold));
}

/** @param {boolean} condition */
function demand(condition) {
  if (!condition) throw new RangeError("the manifest breaks a limit of this page");
}
