/** Moves rows of a list by dragging their handles, or with the arrow keys, Home and End on them. */

const EDGE = 48; // from here on, the list scrolls
const STEP = 14;

/**
 * @param {HTMLElement} editor
 * @param {{
 *   list: () => HTMLElement | null,
 *   moved: (row: HTMLElement) => void,
 *   say: (text: string) => void,
 * }} page
 */
export const startMoving = (editor, { list, moved, say }) => {
  let isDragging = false;
  const rows = () => /** @type {HTMLElement[]} */ ([...(list()?.children ?? [])]);

  /** @param {HTMLElement} row */
  const sayPlace = (row) => {
    const all = rows();
    say(`Place ${all.indexOf(row) + 1} of ${all.length}`);
  };

  editor.addEventListener("keydown", (event) => {
    const handle = event.target instanceof Element && event.target.closest(".question-handle");
    const row = handle && /** @type {HTMLElement} */ (handle.closest(".question-item"));
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const others = rows().filter((one) => one !== row);
    const here = rows().indexOf(row);
    const places = { ArrowUp: here - 1, ArrowDown: here + 1, Home: 0, End: others.length };
    const place = places[/** @type {keyof places} */ (event.key)];
    if (place === undefined) return;
    event.preventDefault();
    if (place === here || place < 0 || place > others.length) return;
    list()?.insertBefore(row, others[place] ?? null);
    /** @type {HTMLElement} */ (handle).focus();
    row.scrollIntoView({ block: "nearest" });
    sayPlace(row);
    moved(row);
  });

  editor.addEventListener("pointerdown", (event) => {
    const handle = event.target instanceof Element && event.target.closest(".question-handle");
    const row = handle && /** @type {HTMLElement} */ (handle.closest(".question-item"));
    const place = list();
    if (!row || !place || event.button !== 0) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (handle).focus();
    const start = row.nextElementSibling;
    let { clientX: x, clientY: y } = event;
    let frame = 0;

    // Other rows move, because taking out the dragged row would end a drag by touch.
    const follow = () => {
      for (let other; (other = row.previousElementSibling) && y < middle(other);) row.after(other);
      for (let other; (other = row.nextElementSibling) && y > middle(other);) row.before(other);
    };
    const scroll = () => {
      const { top, bottom } = place.getBoundingClientRect();
      scrollAtEdge(place, y, Math.max(top, 0), Math.min(bottom, innerHeight));
      const below = bottom > innerHeight ? innerHeight : Infinity;
      scrollAtEdge(document.documentElement, y, top < 0 ? 0 : -Infinity, below);
      follow();
      frame = requestAnimationFrame(scroll);
    };
    /** @param {boolean} isKept */
    const end = (isKept) => {
      cancelAnimationFrame(frame);
      watching.abort();
      isDragging = false;
      row.classList.remove("question-dragged");
      if (!isKept) place.insertBefore(row, start);
      /** @type {HTMLElement} */ (handle).focus();
      if (row.nextElementSibling === start) return say("Not moved");
      sayPlace(row);
      moved(row);
    };

    const watching = new AbortController();
    const { signal } = watching;
    isDragging = true;
    row.classList.add("question-dragged");
    addEventListener("pointermove", (next) => {
      ({ clientX: x, clientY: y } = next);
      follow();
    }, { signal });
    addEventListener("pointerup", () => end(isOver(place, x, y)), { signal });
    for (const lost of ["pointercancel", "blur"]) {
      addEventListener(lost, () => end(false), { signal });
    }
    addEventListener("keydown", (key) => {
      if (key.key === "Escape") end(false);
    }, { signal });
    frame = requestAnimationFrame(scroll);
  });

  return { isDragging: () => isDragging };
};

/** @param {Element} part */
const scrollAtEdge = (
  part,
  /** @type {number} */ y,
  /** @type {number} */ top,
  /** @type {number} */ bottom,
) => {
  const by = y < top + EDGE ? -STEP : y > bottom - EDGE ? STEP : 0;
  if (by) part.scrollBy({ top: by, behavior: "instant" });
};

/** @param {Element} element */
const middle = (element) => {
  const { top, height } = element.getBoundingClientRect();
  return top + height / 2;
};

/** Whether a drag ends at the list; above or below it, the row becomes the first or last. */
const isOver = (
  /** @type {Element} */ list,
  /** @type {number} */ x,
  /** @type {number} */ y,
) => {
  const { left, right } = list.getBoundingClientRect();
  return x > left - EDGE && x < right + EDGE && y >= 0 && y <= innerHeight;
};
