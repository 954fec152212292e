/**
 * Leaving at once: hides the page, erases what is kept and leaves nothing to go back or forward to.
 */

/** @import { Visit } from "./visit.js" */

// Other pages of the survey take the place of this one, so that leaving them leaves both.
const OWN_LINK = "main a[href^='/s/']:not([download])";

/** @param {number} milliseconds */
const delay = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const goBack = () =>
  new Promise((resolve) => {
    // Until the event is over, Firefox would replace the entry that it comes from.
    addEventListener("popstate", () => setTimeout(resolve), { once: true });
    setTimeout(resolve, 1000);
    history.back();
  });

/**
 * Opens another address in the place of this visit, which is over.
 * @param {Visit} visit
 * @param {string} address
 * @param {string} [forward] What the forward button opens there; usually the survey's first page.
 */
export async function leave(visit, address, forward) {
  if (visit.phase === "left") return;
  document.documentElement.hidden = true;
  document.title = "";
  visit.answers = {};
  visit.phase = "left";
  addEventListener("pageshow", () => location.reload());
  await Promise.race([visit.keeper?.then((keeper) => keeper.forget()), delay(500)]);
  if (history.state) await goBack(); // from the guard (navigation.js)
  if (history.pushState) {
    // Replaces the guard ahead, so that the forward button does not open it.
    history.pushState({}, "", forward);
    // The new entry took the title that the first one has in the history. Only a change is noted.
    document.title = "-";
    document.title = "";
    await goBack();
  }
  location.replace(address);
}

/**
 * Lets the person leave with the link, or by pressing Shift three times. Hides the page while
 * another window or app is in front.
 * @param {Visit} visit
 */
export function offerExit(visit) {
  const exit = /** @type {HTMLAnchorElement | null} */ (document.getElementById("exit"));
  if (!exit) return;
  const act = () => void leave(visit, exit.href, exit.dataset.forward);
  /** @type {number[]} */
  let shifts = [];
  addEventListener("keydown", ({ key, repeat, timeStamp }) => {
    if (repeat) return;
    shifts = key === "Shift" ? [...shifts.slice(-2), timeStamp] : [];
    if (shifts.length === 3 && timeStamp - shifts[0] < 5000) act();
  });
  addEventListener("click", (event) => {
    const found = /** @type {Element} */ (event.target).closest(`#exit, ${OWN_LINK}`);
    const link = /** @type {HTMLAnchorElement | null} */ (found);
    if (
      !link || event.defaultPrevented ||
      (link !== exit && (event.ctrlKey || event.metaKey || event.shiftKey))
    ) return;
    event.preventDefault();
    if (link === exit) act();
    else location.replace(link.href);
  });
  document.addEventListener("visibilitychange", () => {
    document.body.style.opacity = document.hidden ? "0" : "";
  });
}
