/** "Exit this page": hides the page, erases what is kept and leaves nothing to go back to. */

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
 * @param {string} address
 */
async function leave(visit, address) {
  document.documentElement.hidden = true;
  document.title = "";
  visit.answers = {};
  visit.phase = "left";
  await Promise.race([visit.keeper?.forget(), delay(500)]);
  if (visit.step) {
    await travel(-visit.step);
    history.pushState({}, ""); // hides how many steps there were
    await travel(-1);
  }
  location.replace(address);
}

/**
 * Lets the person leave with the link, or by pressing Shift three times.
 * @param {Visit} visit
 */
export function offerExit(visit) {
  const exit = /** @type {HTMLAnchorElement | null} */ (document.getElementById("exit"));
  exit?.addEventListener("click", (event) => {
    event.preventDefault();
    void leave(visit, exit.href);
  });
  /** @type {number[]} */
  let shifts = [];
  addEventListener("keydown", ({ key, repeat, timeStamp }) => {
    if (repeat || !exit) return;
    shifts = key === "Shift" ? [...shifts.slice(-2), timeStamp] : [];
    if (shifts.length === 3 && timeStamp - shifts[0] < 5000) void leave(visit, exit.href);
  });
  addEventListener("pageshow", () => visit.phase === "left" && location.reload());
}
