/** What the server wrote into this page, and showing something else in its place. */

/**
 * @typedef {object} Given
 * @property {"open" | "closed" | "preview" | "disk"} mode
 * @property {string} title
 * @property {string} manifest Where the manifest is.
 * @property {string} hash The manifest's hash.
 * @property {string} intake Where reports are sent.
 * @property {string} language
 */

const main = /** @type {HTMLElement} */ (document.getElementById("survey"));
export const given = /** @type {Given} */ (/** @type {unknown} */ (main.dataset));
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
