/**
 * Draws 100,000 times with the module that scrambles answers, for each channel of this survey, and
 * compares the counts with what is expected.
 */
import { cryptoUint32, randomizeSymbol } from "./randomize.js";
import { openKeeper } from "./report/keeper.js";
import { make } from "./visit/elements.js";
import { offerExit } from "./visit/leaving.js";
import { pageData } from "./visit/screen.js";
import { loadSurvey } from "./visit/survey.js";
import { startVisit } from "./visit/visit.js";
import { say, writeNumber } from "./visit/words.js";

/**
 * @import { Channel } from "./randomize.js"
 * @import { Page } from "./report/rules.js"
 * @import { Survey } from "./visit/survey.js"
 *
 * @typedef {object} Sample An answer, and the questions that scramble it in the same way.
 * @property {Channel} channel
 * @property {number} truth
 * @property {string} answer
 * @property {HTMLElement[]} questions
 */

const DRAWS = 100_000;
const TRUTHS = 6; // how many true codes to try, at most
const FAR = 5; // standard deviations; chance exceeds this once in 1.7 million counts
const test = /** @type {HTMLElement} */ (document.getElementById("self-test"));
const button = /** @type {HTMLButtonElement} */ (test.querySelector("button"));
const verdict = /** @type {HTMLElement} */ (test.querySelector("[role=status]"));
const lines = /** @type {HTMLElement} */ (test.querySelector("dl"));
const results = /** @type {HTMLElement} */ (document.getElementById("counts"));
const rows = /** @type {HTMLTableElement} */ (test.querySelector("table")).tBodies[0];
const writer = new Intl.NumberFormat(document.documentElement.lang, { numberingSystem: "latn" });

/** @param {Channel} channel */
const nameChannel = ({ k, threshold }) => `${k} ${threshold}`;

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

/**
 * Lists the different channels of the survey.
 * @param {Survey} survey
 */
function listChannels({ questions }) {
  const channels = questions.flatMap((one) => one.channels).filter((one) => one !== null);
  return [...new Map(channels.map((one) => [nameChannel(one), one])).values()];
}

/**
 * Lists one answer to each question that is scrambled: Yes, or the first one.
 * @param {Survey} survey
 */
function listSamples({ pages, quote }) {
  /** @type {Map<string, Sample>} */
  const samples = new Map();
  for (const { text, type, options = [], minimum = 0, unit = "", channels, follows } of pages) {
    // A gate comes before the symbols of the answers.
    const channel = [...channels].pop();
    if (!channel || follows) continue;
    const truth = Number(type === "yes_no" || type === "several");
    const option = options.find(({ code }) => code === truth);
    const words = option?.isOurs ? option.text : quote(option?.text ?? unit).textContent;
    const answer = option ? `${words}` : `${writeNumber(minimum)} ${words}`.trim();
    const key = `${nameChannel(channel)} ${answer}`;
    const sample = samples.get(key) ?? { channel, truth, answer, questions: [] };
    sample.questions.push(quote(text));
    samples.set(key, sample);
  }
  return [...samples.values()];
}

async function run() {
  results.hidden = true;
  lines.replaceChildren();
  rows.replaceChildren();
  verdict.className = "";
  verdict.textContent = say("running");
  let isFar = false;
  /** @type {Map<string, number[][]>} */
  const counts = new Map();
  const survey = await loadSurvey(null);
  for (const channel of listChannels(survey)) {
    const kept = channel.threshold / 2 ** 32;
    /** @type {number[][]} */
    const found = [];
    counts.set(nameChannel(channel), found);
    for (let truth = 0; truth < Math.min(channel.k, TRUTHS); truth += 1) {
      await new Promise((resolve) => setTimeout(resolve)); // let the browser respond
      found.push(countCodes(truth, channel));
      found[truth].forEach((seen, code) => {
        const chance = code === truth ? kept : (1 - kept) / (channel.k - 1);
        isFar ||= Math.abs(seen - DRAWS * chance) > FAR * Math.sqrt(DRAWS * chance * (1 - chance));
        addRow([channel.k, truth, code, Math.round(DRAWS * chance), seen]);
      });
    }
  }
  for (const sample of listSamples(survey)) {
    addLine(sample, counts.get(nameChannel(sample.channel)) ?? []);
  }
  results.hidden = false;
  verdict.className = isFar ? "verdict error-summary" : "verdict";
  verdict.textContent = say(isFar ? "off" : "fair");
}

/**
 * @param {Sample} sample
 * @param {number[][]} counts
 */
function addLine({ channel, truth, answer, questions }, counts) {
  const kept = say("kept", {
    answer: `\u2068${answer}\u2069`, // isolated: it may be read in the other direction
    seen: writer.format(counts[truth][truth]),
    expected: writer.format(Math.round((DRAWS * channel.threshold) / 2 ** 32)),
  });
  const asked = questions.map((question) => make("dt", {}, question));
  lines.append(make("div", {}, ...asked, make("dd", {}, kept)));
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
    verdict.textContent = say(crypto.subtle ? "untested" : "https");
  }
  button.disabled = false;
});

/** Here nothing is sent, so there is nothing to store later. On shared devices, no mark stays. */
const storeNothing = () => Promise.resolve(() => Promise.resolve());

/** Leaving from here erases a code that waits to be sent, like leaving from the questions. */
async function watch() {
  const visit = startVisit();
  offerExit(visit);
  visit.keeper = await openKeeper(pageData.hash, pageData.shared ? storeNothing : undefined);
}

void watch();
