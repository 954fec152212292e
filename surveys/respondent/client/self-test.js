/**
 * Draws codes with the module that scrambles answers, for each channel of this survey, and compares the
 * counts with what is expected.
 */
import { cryptoUint32, randomizeSymbol } from "./randomize.js";
import { openKeeper } from "./report/keeper.js";
import { make } from "./visit/elements.js";
import { offerExit } from "./visit/leaving.js";
import { pageData } from "./visit/screen.js";
import { loadSurvey } from "./visit/survey.js";
import { startVisit } from "./visit/visit.js";
import { say } from "./visit/words.js";

/**
 * @import { Channel } from "./randomize.js"
 * @import { Survey } from "./visit/survey.js"
 */

const DRAWS = 60_000; // for each channel; 2 to 6 true codes share them
const TRUTHS = 6; // how many true codes to try, at most
const FAR = 5; // standard deviations; chance exceeds this once in 1.7 million counts
const test = /** @type {HTMLElement} */ (document.getElementById("self-test"));
const button = /** @type {HTMLButtonElement} */ (test.querySelector("button"));
const verdict = /** @type {HTMLElement} */ (test.querySelector("[role=status]"));
const lines = /** @type {HTMLElement} */ (test.querySelector("dl"));
const progress = /** @type {HTMLProgressElement} */ (test.querySelector("progress"));
const results = /** @type {HTMLElement} */ (document.getElementById("counts"));
const rows = /** @type {HTMLTableElement} */ (test.querySelector("table")).tBodies[0];
const writer = new Intl.NumberFormat(document.documentElement.lang, { numberingSystem: "latn" });

/** @param {Channel} channel */
const nameChannel = ({ k, threshold }) => `${k} ${threshold}`;

/**
 * Counts the codes that are drawn for one true code.
 * @param {number} truth
 * @param {Channel} channel
 * @param {number} draws
 */
function countCodes(truth, channel, draws) {
  /** @type {number[]} */
  const seen = Array(channel.k).fill(0);
  for (let i = 0; i < draws; i += 1) seen[randomizeSymbol(truth, channel, cryptoUint32)] += 1;
  return seen;
}

/**
 * Lists the different channels of the survey, each with the questions that it scrambles.
 * @param {Survey} survey
 */
function listChannels({ questions, quote }) {
  /** @type {Map<string, { channel: Channel, asked: Set<string> }>} */
  const found = new Map();
  for (const { text, channels } of questions) {
    for (const channel of channels) {
      if (!channel) continue;
      const name = nameChannel(channel);
      found.set(name, found.get(name) ?? { channel, asked: new Set() });
      found.get(name)?.asked.add(text);
    }
  }
  return [...found.values()].map(({ channel, asked }) => ({
    channel,
    asked: [...asked].map(quote),
  }));
}

async function run() {
  results.hidden = true;
  lines.replaceChildren();
  rows.replaceChildren();
  verdict.className = "";
  verdict.textContent = say("running");
  let isFar = false;
  const channels = listChannels(await loadSurvey(null));
  progress.max = channels.length;
  progress.value = 0;
  progress.hidden = false;
  for (const { channel, asked } of channels) {
    const kept = channel.threshold / 2 ** 32;
    const truths = Math.min(channel.k, TRUTHS);
    const draws = DRAWS / truths;
    let stayed = 0;
    for (let truth = 0; truth < truths; truth += 1) {
      await new Promise((resolve) => setTimeout(resolve)); // let the browser respond
      countCodes(truth, channel, draws).forEach((seen, code) => {
        const isKept = code === truth;
        const chance = isKept ? kept : (1 - kept) / (channel.k - 1);
        if (isKept) stayed += seen;
        isFar ||= Math.abs(seen - draws * chance) > FAR * Math.sqrt(draws * chance * (1 - chance));
        addRow([channel.k, truth, code, Math.round(draws * chance), seen]);
      });
      progress.value += 1 / truths;
    }
    addLine(asked, stayed, Math.round(DRAWS * kept));
  }
  progress.hidden = true;
  results.hidden = false;
  verdict.className = isFar ? "verdict error-summary" : "verdict";
  verdict.textContent = say(isFar ? "off" : "fair");
}

/**
 * @param {HTMLElement[]} asked
 * @param {number} seen
 * @param {number} expected
 */
function addLine(asked, seen, expected) {
  const [draws, stayed, due] = [DRAWS, seen, expected].map(writer.format);
  const kept = make("dd", {}, say("kept", { draws, seen: stayed, expected: due }));
  lines.append(make("div", {}, ...asked.map((one) => make("dt", {}, one)), kept));
}

/** @param {number[]} values */
function addRow(values) {
  rows.insertRow().append(...values.map((value) => make("td", {}, writer.format(value))));
}

verdict.textContent = verdict.className = "";
button.hidden = false;
button.addEventListener("click", async () => {
  button.disabled = true;
  try {
    await run();
  } catch {
    progress.hidden = true;
    verdict.textContent = say(crypto.subtle ? "untested" : "https");
  }
  button.disabled = false;
});

/** Here nothing is sent, so there is nothing to store later. On shared devices, no mark stays. */
const storeNothing = () => Promise.resolve(() => Promise.resolve());

/** Leaving from here erases a code that waits to be sent, as leaving from the questions does. */
function watch() {
  const visit = startVisit();
  offerExit(visit);
  visit.keeper = openKeeper(pageData.hash, pageData.shared ? storeNothing : undefined);
}

watch();
