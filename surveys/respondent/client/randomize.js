/**
 * Makes all random draws: scrambles answers (in Python: privacy/mechanism/mechanisms.py) and draws
 * the questions of a random subset. Does nothing else.
 *
 * A symbol has the codes 0 to k-1. Two numbers are drawn for each symbol: the first keeps the code
 * with probability threshold / 2^32, the second selects the code that replaces it otherwise.
 *
 * @typedef {object} Channel How one symbol is scrambled.
 * @property {number} k
 * @property {number} threshold
 * @property {number} [minimum] Only for numbers, which are rounded to 0 or 1.
 * @property {number} [maximum]
 *
 * @typedef {object} Rounded A number to round, or the code to send instead.
 * @property {number} value
 * @property {number} [missing]
 *
 * @typedef {number | null | undefined | Rounded} Latent The truth behind one symbol; null if it is
 *   not asked.
 * @typedef {() => number} RandomUint32
 */

const SCALE = 2 ** 32;
const MAX_SYMBOLS = 64;

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
export function checkWhole(value, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${value} is not a whole number from ${least} to ${most}`);
  }
}

/**
 * Throws if a channel cannot run exactly or does not protect.
 * @param {Channel} channel
 */
export function checkChannel({ k, threshold }) {
  checkWhole(k, 2, MAX_SYMBOLS);
  checkWhole(threshold, Math.floor(SCALE / k) + 1, SCALE - 1);
}

/**
 * @param {number} n
 * @param {RandomUint32} randomUint32
 */
function drawBelow(n, randomUint32) {
  // Draw again at or above the limit; otherwise some results would be too frequent.
  const limit = Math.floor(SCALE / n) * n;
  let v = randomUint32();
  while (v >= limit) v = randomUint32();
  return v % n;
}

/**
 * @param {number} symbol
 * @param {Channel} channel
 * @param {RandomUint32} randomUint32
 */
export function randomizeSymbol(symbol, channel, randomUint32) {
  checkChannel(channel);
  const { k, threshold } = channel;
  checkWhole(symbol, 0, k - 1);
  const u = randomUint32();
  const other = drawBelow(k - 1, randomUint32);
  const replacement = other + Number(other >= symbol);
  // No branch, so that the steps are the same whether or not the code is kept.
  const kept = Number(u < threshold);
  return kept * symbol + (1 - kept) * replacement;
}

/**
 * Rounds a number to 0 or 1, which stand for the ends of its range, so that the mean stays the same.
 * @param {number} value
 * @param {{ minimum?: number, maximum?: number }} range
 * @param {RandomUint32} randomUint32
 */
export function roundToBit(value, { minimum = 0, maximum = 0 }, randomUint32) {
  checkWhole(value, minimum, maximum);
  const limit = Math.floor((SCALE * (value - minimum)) / (maximum - minimum));
  return Number(randomUint32() < limit);
}

/**
 * Draws the blocks that one person is asked. Every set is equally likely.
 * @param {number} blocks
 * @param {number} drawn
 * @param {RandomUint32} randomUint32
 */
export function drawBlocks(blocks, drawn, randomUint32) {
  const order = [...Array(blocks).keys()];
  for (let place = 0; place < drawn; place += 1) {
    const other = place + drawBelow(blocks - place, randomUint32);
    [order[place], order[other]] = [order[other], order[place]];
  }
  return order.slice(0, drawn).sort((a, b) => a - b);
}

/**
 * Scrambles every symbol of a report. null stays null, because the symbol is not asked.
 * @param {Latent[]} latents
 * @param {(Channel | null)[]} channels null for answers that are sent unscrambled.
 * @param {RandomUint32} randomUint32
 */
export function randomizeReport(latents, channels, randomUint32) {
  checkWhole(latents.length, channels.length, channels.length);
  return channels.map((channel, i) => {
    const latent = latents[i];
    if (latent === null || (!channel && typeof latent === "number")) return latent;
    if (latent === undefined || !channel) throw new RangeError(`${i} has no answer`);
    if (typeof latent === "number") return randomizeSymbol(latent, channel, randomUint32);
    // Round even if the number is missing, so that the count of draws is the same.
    const bit = roundToBit(latent.value, channel, randomUint32);
    return randomizeSymbol(latent.missing ?? bit, channel, randomUint32);
  });
}

export function cryptoUint32() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
