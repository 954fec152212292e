/** Murmur's own words. The page contains them in its language. */

export const template = document.querySelector("template")?.content;

/** @param {string} name */
export const findWords = (name) => template?.getElementById(name)?.textContent ?? "";

/**
 * Returns Murmur's words with their gaps filled.
 * @param {string} name
 * @param {Record<string, string | number | null>} gaps
 */
export const say = (name, gaps = {}) =>
  findWords(name).replace(/{(\w+)}/g, (all, gap) => `${gaps[gap] ?? all}`);
