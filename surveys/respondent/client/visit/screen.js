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
 * @property {string} [minutes] About how many a visit takes, if it is long.
 * @property {string} [confirm] Set if the author wants each answer to be confirmed.
 */

export const main = /** @type {HTMLElement} */ (document.getElementById("survey"));
export const pageData = /** @type {PageData} */ (/** @type {unknown} */ (main.dataset));
export const label = document.getElementById("label");
/**
 * Whether people may have to leave at once. If so, no title says how far the visit went, and the
 * answers disappear with the page, at once and without a warning.
 */
export const isWatched = !!document.getElementById("exit");
export const opening = { nodes: [...main.childNodes] };

// A double tap, or a trembling hand, must not answer the page that its first tap has just brought,
// so clicks on a new page count only after a pause of 400 ms. Keys, whose clicks have no detail,
// need none, because the focus went to the heading.
const shown = { isNew: false, clicked: 0 };
addEventListener("click", (event) => {
  shown.isNew &&= event.detail > (event.timeStamp - shown.clicked < 400 ? 0 : 1);
  shown.clicked = event.timeStamp;
  const { target } = /** @type {{ target: any }} */ (event);
  if (!shown.isNew || !main.contains(target)) return; // the exit always works
  event.preventDefault();
  event.stopPropagation();
}, true);

/** @param {string} [name] */
export const entitle = (name) => {
  document.title = name && !isWatched ? `${name} · ${pageData.title}` : pageData.title;
};

/**
 * @param {Node[]} nodes
 * @param {string} [name] What the title calls the page.
 */
export function show(nodes, name) {
  shown.isNew = true;
  main.replaceChildren(...nodes);
  entitle(name);
  scrollTo(0, 0);
  /** @type {HTMLElement | null} */
  const heading = main.querySelector("h1:not(:empty)");
  heading?.focus({ preventScroll: true });
}
