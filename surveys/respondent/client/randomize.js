/**
 * Scrambles answers and does nothing else. In Python: privacy/mechanism/mechanisms.py.
 * A symbol has codes 0 to k-1. Two numbers are drawn for each: the first keeps the code with chance
 * threshold / 2^32, the second says which other code replaces it if not.
 *
 * @typedef {object} Channel How one symbol is scrambled.
 * @property {number} k
 * @property {number} threshold
 * @property {number} [minimum] Only for a number, which is rounded to 0 or 1.
 * @property {number} [maximum]
 *
 * @typedef {object} Rounded A number to be rounded, or the code sent in its place.
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
 * Refuses what cannot run exactly, or protects nothing.
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
  // Drawn again from the limit on, or some would come up too often.
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
  // No branch: the same steps whether or not the code is kept.
  const kept = Number(u < threshold);
  return kept * symbol + (1 - kept) * replacement;
}

/**
 * Rounds to 0 or 1, for the ends of the range, so that the mean is kept.
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
 * Draws what one person is asked; every set is equally likely.
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
 * Scrambles every symbol of a report; null, which is not asked, stays null.
 * @param {Latent[]} latents
 * @param {(Channel | null)[]} channels null where the answer is sent as it is.
 * @param {RandomUint32} randomUint32
 */
export function randomizeReport(latents, channels, randomUint32) {
  checkWhole(latents.length, channels.length, channels.length);
  return channels.map((channel, i) => {
    const latent = latents[i];
    if (latent === null || (!channel && typeof latent === "number")) return latent;
    if (latent === undefined || !channel) throw new RangeError(`${i} has no answer`);
    if (typeof latent === "number") return randomizeSymbol(latent, channel, randomUint32);
    // Rounded also where the number is missing, so that as many numbers are drawn.
    const bit = roundToBit(latent.value, channel, randomUint32);
    return randomizeSymbol(latent.missing ?? bit, channel, randomUint32);
  });
}

export function cryptoUint32() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
