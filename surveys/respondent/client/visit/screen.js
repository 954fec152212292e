/** Reads what the server wrote into the page, and replaces the content. */

/**
 * @typedef {object} PageData
 * @property {"open" | "closed" | "preview" | "disk"} mode
 * @property {string} title
 * @property {string} manifest The address of the manifest.
 * @property {string} hash The hash of the manifest.
 * @property {string} intake The address that takes reports.
 * @property {string} language
 */

const main = /** @type {HTMLElement} */ (document.getElementById("survey"));
export const pageData = /** @type {PageData} */ (/** @type {unknown} */ (main.dataset));
export const label = document.getElementById("label");
export const opening = { nodes: [...main.childNodes], title: document.title };

/**
 * @param {Node[]} nodes
 * @param {string} title
 */
export function show(nodes, title) {
  main.replaceChildren(...nodes);
  document.title = title;
  scrollTo(0, 0);
  /** @type {HTMLElement | null} */
  const heading = main.querySelector("h1:not(:empty)");
  heading?.focus({ preventScroll: true });
}
