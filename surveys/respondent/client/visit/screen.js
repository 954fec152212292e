/** Reads what the server wrote into the page, and replaces the content. */

/**
 * @typedef {object} PageData
 * @property {"open" | "closed" | "preview" | "disk"} mode
 * @property {string} title
 * @property {string} manifest The address of the manifest.
 * @property {string} hash The hash of the manifest.
 * @property {string} intake The address that takes reports.
 * @property {string} language
 * @property {string} [shared] Set if several people share a device.
 */

const main = /** @type {HTMLElement} */ (document.getElementById("survey"));
export const pageData = /** @type {PageData} */ (/** @type {unknown} */ (main.dataset));
export const label = document.getElementById("label");
/** Whether people may have to leave at once. Then no title says how far the visit went. */
export const isWatched = !!document.getElementById("exit");
export const opening = { nodes: [...main.childNodes], title: document.title };

// The second click of a double click must not answer what the first one has just brought.
const shown = { isNew: false };
addEventListener("click", (event) => {
  shown.isNew &&= event.detail > 1;
  if (!shown.isNew) return;
  event.preventDefault();
  event.stopPropagation();
}, true);

/**
 * @param {Node[]} nodes
 * @param {string} title
 */
export function show(nodes, title) {
  shown.isNew = true;
  main.replaceChildren(...nodes);
  document.title = title;
  scrollTo(0, 0);
  /** @type {HTMLElement | null} */
  const heading = main.querySelector("h1:not(:empty)");
  heading?.focus({ preventScroll: true });
}
