/**
 * Scrambles answers. This file does nothing else: it reads no page, sends nothing and
 * keeps nothing. What it is given stays in memory, and what comes out is what is sent.
 *
 * A question has k possible answers, numbered 0 to k-1, and a keep threshold T. Two numbers
 * are drawn for every answer, whatever it is. The first decides with chance T / 2^32 whether
 * the answer is kept; the second says which other answer replaces it if not.
 * Python does exactly the same in privacy/mechanisms.py.
 */

const SCALE = 2 ** 32;
const MAX_SYMBOLS = 64;

/**
 * @typedef {{ k: number, threshold: number }} Channel
 * @typedef {() => number} RandomUint32  draws an integer from 0 to 2^32 - 1, all equally likely
 */

/**
 * Refuses a channel that this file cannot run exactly, or that protects nothing.
 * @param {Channel} channel
 */
export function checkChannel({ k, threshold }) {
  if (!Number.isInteger(k) || k < 2 || k > MAX_SYMBOLS) {
    throw new RangeError(`k must be an integer from 2 to ${MAX_SYMBOLS}, got ${k}`);
  }
  if (!Number.isInteger(threshold) || threshold * k <= SCALE || threshold >= SCALE) {
    throw new RangeError(`threshold must lie between 2^32 / ${k} and 2^32, got ${threshold}`);
  }
}

/**
 * @param {number} symbol  the true answer's number
 * @param {Channel} channel
 * @param {RandomUint32} randomUint32
 * @returns {number} the number to send
 */
export function randomizeSymbol(symbol, channel, randomUint32) {
  checkChannel(channel);
  const { k, threshold } = channel;
  if (!Number.isInteger(symbol) || symbol < 0 || symbol >= k) {
    throw new RangeError(`symbol must be an integer from 0 to ${k - 1}, got ${symbol}`);
  }
  const others = k - 1;
  // Numbers at or above the limit are drawn again, or some answers would come up too often.
  const limit = Math.floor(SCALE / others) * others;
  const u = randomUint32();
  let v = randomUint32();
  while (v >= limit) {
    v = randomUint32();
  }
  const other = v % others;
  const replacement = other + Number(other >= symbol);
  // Arithmetic instead of a branch: the same steps whether or not the answer is kept.
  const kept = Number(u < threshold);
  return kept * symbol + (1 - kept) * replacement;
}

/**
 * Scrambles all answers of a visit, each by itself.
 * @param {number[]} symbols  the true answers' numbers, one for each question
 * @param {Channel[]} questions
 * @param {RandomUint32} randomUint32
 * @returns {number[]} the numbers to send
 */
export function randomizeReport(symbols, questions, randomUint32) {
  if (symbols.length !== questions.length) {
    throw new RangeError(`${questions.length} questions, but ${symbols.length} symbols`);
  }
  return questions.map((question, i) => randomizeSymbol(symbols[i], question, randomUint32));
}

/**
 * The browser's own source of unpredictable numbers.
 * @returns {number}
 */
export function cryptoUint32() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
