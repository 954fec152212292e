/**
 * Draws 100,000 times with the module that scrambles answers, for each channel of this survey, and
 * compares the counts with what is expected.
 */
import { cryptoUint32, randomizeSymbol } from "./randomize.js";
import { openKeeper } from "./report/keeper.js";
import { loadManifest } from "./report/manifest.js";
import { offerExit } from "./visit/leaving.js";
import { startVisit } from "./visit/visit.js";
import { say } from "./visit/words.js";

/** @import { Channel } from "./randomize.js" */

const DRAWS = 100_000;
const TRUTHS = 6; // how many true codes to try, at most
const FAR = 5; // standard deviations; chance exceeds this once in 1.7 million counts
const page = /** @type {HTMLElement} */ (document.getElementById("self-test"));
const button = /** @type {HTMLButtonElement} */ (page.querySelector("button"));
const verdict = /** @type {HTMLElement} */ (page.querySelector("[role=status]"));
const table = /** @type {HTMLTableElement} */ (page.querySelector("table"));
const rows = table.tBodies[0];

/**
 * Counts the codes that are drawn for one true code.
 * @param {number} truth
 * @param {Channel} channel
 */
function countCodes(truth, channel) {
  /** @type {number[]} */
  const seen = Array(channel.k).fill(0);
  for (let i = 0; i < DRAWS; i += 1) seen[randomizeSymbol(truth, channel, cryptoUint32)] += 1;
  return seen;
}

/** Lists the different channels of the survey. */
async function listChannels() {
  const { manifest = "", hash = "" } = page.dataset;
  const { questions } = await loadManifest(manifest, hash);
  const channels = questions.flatMap((one) => one.channels).filter((one) => one !== null);
  return [...new Map(channels.map((one) => [`${one.k} ${one.threshold}`, one])).values()];
}

async function test() {
  rows.replaceChildren();
  verdict.textContent = say("running");
  let isFar = false;
  for (const channel of await listChannels()) {
    const kept = channel.threshold / 2 ** 32;
    for (let truth = 0; truth < Math.min(channel.k, TRUTHS); truth += 1) {
      await new Promise((resolve) => setTimeout(resolve)); // let the browser respond
      countCodes(truth, channel).forEach((seen, code) => {
        const chance = code === truth ? kept : (1 - kept) / (channel.k - 1);
        isFar ||= Math.abs(seen - DRAWS * chance) > FAR * Math.sqrt(DRAWS * chance * (1 - chance));
        const cells = [channel.k, truth, code, Math.round(DRAWS * chance), seen];
        rows.insertRow().append(...cells.map(makeCell));
      });
    }
  }
  table.hidden = false;
  verdict.textContent = say(isFar ? "off" : "fair");
}

/** @param {number} value */
function makeCell(value) {
  const cell = document.createElement("td");
  cell.textContent = `${value}`;
  return cell;
}

button.hidden = false;
button.addEventListener("click", async () => {
  button.disabled = true;
  try {
    await test();
  } catch {
    verdict.textContent = say(crypto.subtle ? "untested" : "https");
  }
  button.disabled = false;
});

/** Leaving from here erases a code that waits to be sent, like leaving from the questions. */
async function watch() {
  const visit = startVisit();
  offerExit(visit);
  visit.keeper = await openKeeper(page.dataset.hash ?? "", !!page.dataset.shared);
}

void watch();
