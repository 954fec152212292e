/** Murmur's own words. The page contains them in its language. */

const template = document.querySelector("template")?.content;

/** @param {string} name */
export const findWords = (name) => template?.getElementById(name)?.textContent ?? "";

/**
 * Writes a number with a minus sign instead of a hyphen.
 * @param {string | number} value
 */
export const writeNumber = (value) => `${value}`.replace("-", "−");

/**
 * Returns Murmur's words with their gaps filled.
 * @param {string} name
 * @param {Record<string, string | number | null>} gaps
 */
export const say = (name, gaps = {}) =>
  findWords(name).replace(/{(\w+)}/g, (all, gap) => `${gaps[gap] ?? all}`);

/** Shows moments in the device's own time zone. */
export function showLocalTimes() {
  const form = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: "long",
    timeStyle: "short",
    numberingSystem: "latn", // as in the rest of the page
  });
  for (const one of document.querySelectorAll("time")) {
    one.textContent = form.format(new Date(one.dateTime));
  }
}
