/** Cuts rows into pages. In Python: surveys/manifest/grids.py. */
const MOST_ROWS = 7; // on a page

/**
 * Cuts rows into pages of nearly the same length.
 * @template T
 * @param {T[]} rows
 */
export function cut(rows) {
  const count = Math.ceil(rows.length / MOST_ROWS);
  const at = (/** @type {number} */ i) => Math.ceil((i * rows.length) / count);
  return Array.from({ length: count }, (_, i) => rows.slice(at(i), at(i + 1)));
}
