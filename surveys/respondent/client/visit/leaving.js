/**
 * "Exit this page": hides the page, erases what is kept and leaves nothing to go back or forward to.
 */

/** @import { Visit } from "./visit.js" */

/** @param {number} milliseconds */
const delay = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** @param {number} steps */
const travel = (steps) =>
  new Promise((resolve) => {
    addEventListener("popstate", resolve, { once: true });
    setTimeout(resolve, 1000);
    history.go(steps);
  });

/**
 * @param {Visit} visit
 * @param {HTMLAnchorElement} exit
 */
async function leave(visit, exit) {
  document.documentElement.hidden = true;
  document.title = "";
  visit.answers = {};
  visit.phase = "left";
  await Promise.race([visit.keeper?.forget(), delay(500)]);
  if (visit.step) await travel(-visit.step);
  // Replaces all steps ahead, so that the forward button opens the neutral page too.
  history.pushState({}, "", exit.dataset.forward);
  // The new step took the title that the first one has in the history. Only a change is noted.
  document.title = "-";
  document.title = "";
  await travel(-1);
  location.replace(exit.href);
}

/**
 * Lets the person leave with the link, or by pressing Shift three times.
 * @param {Visit} visit
 */
export function offerExit(visit) {
  const exit = /** @type {HTMLAnchorElement | null} */ (document.getElementById("exit"));
  exit?.addEventListener("click", (event) => {
    event.preventDefault();
    void leave(visit, exit);
  });
  /** @type {number[]} */
  let shifts = [];
  addEventListener("keydown", ({ key, repeat, timeStamp }) => {
    if (repeat || !exit) return;
    shifts = key === "Shift" ? [...shifts.slice(-2), timeStamp] : [];
    if (shifts.length === 3 && timeStamp - shifts[0] < 5000) void leave(visit, exit);
  });
  addEventListener("pageshow", () => visit.phase === "left" && location.reload());
}
