/** Waits, and gives up on what takes too long. */
import { cryptoUint32 } from "../randomize.js";

/**
 * Waits this long plus up to half as long again, so that thousands of browsers do not return at
 * once.
 * @param {number} seconds
 */
export function sleep(seconds) {
  const jitter = cryptoUint32() / 2 ** 33;
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds * (1 + jitter)));
}

/**
 * Rejects if the promise takes too long.
 * @template T
 * @param {number} seconds
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export function within(seconds, promise) {
  /** @type {Promise<never>} */
  const late = new Promise((_, reject) => {
    setTimeout(reject, 1000 * seconds);
  });
  return Promise.race([promise, late]);
}
