/** Murmur's words, which stand in the page in its language. */

const template = document.querySelector("template")?.content;

/** @param {string} name */
export const findWords = (name) => template?.getElementById(name)?.textContent ?? "";

/**
 * Murmur's words, with what belongs in their gaps.
 * @param {string} name
 * @param {Record<string, string | number | null>} gaps
 */
export const say = (name, gaps = {}) =>
  findWords(name).replace(/{(\w+)}/g, (all, gap) => `${gaps[gap] ?? all}`);
