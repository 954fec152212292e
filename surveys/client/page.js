/**
 * The visit, step by step. Answers live in `answers`, in this page's memory and nowhere else;
 * they are dropped as soon as they are scrambled, or when the page is left.
 */
import { drawEnvelope, openKeeper } from "./envelope.js";
import { Refusal, loadManifest } from "./manifest.js";
import { cryptoUint32, drawBlocks } from "./randomize.js";
import { listPages, markDrawn, walk } from "./rules.js";
import { send } from "./sending.js";
import { checkStep, fold, outcomeStep, questionStep, say } from "./steps.js";

const main = /** @type {HTMLElement} */ (document.getElementById("survey"));
const { mode, title = "", hash = "", manifest: url = "", intake = "" } = main.dataset;
const status = document.getElementById("status");
const start = document.getElementById("start");
const label = /** @type {HTMLElement} */ (document.getElementById("label"));
const opening = { nodes: [...main.childNodes], title: document.title };

/** @type {Answers} */
let answers = {};
/** @type {Manifest} */
let manifest;
/** @type {Question[]} */
let pages = [];
let phase = "reading"; // then "answering", then "submitted"
// The browser's history holds numbers of steps; the page that a step showed is known here.
/** @type {string[]} */
let trail = [];
let step = 0;

/** @param {Node[]} nodes @param {string} name  for the title */
function show(nodes, name) {
  main.replaceChildren(...nodes);
  document.title = name;
  scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

/** The pages that are open, and the place of the first one without an answer. */
function look() {
  const { open } = walk(pages, answers);
  const gap = open.findIndex(({ name }) => answers[name] === undefined);
  return { open, next: gap < 0 ? open.length : gap };
}

/** Shows the page of a step, or the last in reach. After all pages comes the check. */
function render() {
  if (phase !== "answering" || !trail[step]) return show(opening.nodes, opening.title);
  const { open, next } = look();
  const found = open.findIndex(({ name }) => name === trail[step]);
  const place = found < 0 ? next : Math.min(found, next);
  const page = open[place];
  const own = { lang: manifest.language, dir: "auto" }; // the author's words, not ours
  const back = () => history.back();
  const asked = open.filter(({ number }) => number);
  if (!page) {
    const nodes = checkStep({ pages: asked, answers, own, back, change: go, submit });
    return show([...nodes, fold(label)], `Check your answers · ${title}`);
  }
  let progress = "";
  // Said only where answers cannot change how many questions there are.
  if (page.number && !pages.some(({ rule }) => rule)) {
    const which = manifest.drawn ? `${page.number} · ${asked.indexOf(page) + 1}` : page.number;
    progress = `Question ${which} of ${asked.length}`;
  }
  /** @param {Answer} answer */
  const proceed = (answer) => {
    answers[page.name] = answer;
    go();
  };
  const nodes = questionStep({ page, own, progress, answer: answers[page.name], back, proceed });
  show([...nodes, fold(label)], `${progress || `Page ${place + 1}`} · ${title}`);
}

/** Goes on to a page, or to the next one without an answer. @param {string} [name] */
function go(name) {
  const { open, next } = look();
  step += 1;
  trail.length = step;
  trail[step] = name ?? open[next]?.name ?? "check";
  history.pushState({ step }, "");
  render();
}

const keeper = mode === "preview" ? null : await openKeeper(hash);

/** From here on there is one page, and no way back. */
function openOutcome() {
  phase = "submitted";
  const { card, tell } = outcomeStep(title);
  show([card], title);
  return tell;
}

async function submit() {
  const tell = openOutcome();
  tell("sending");
  history.go(-step);
  const drawn = await keeper?.seal(() => drawEnvelope(hash, manifest.questions, pages, answers));
  answers = {};
  if (keeper) await send({ keeper, intake, tell, other: !drawn });
  else tell("preview");
}

/** Loads the questions: of some blocks, if this person is not asked all. */
async function load() {
  manifest = await loadManifest(url, hash);
  const { blocks, drawn, questions } = manifest;
  const draw = () => drawBlocks(blocks, drawn ?? blocks, cryptoUint32);
  if (drawn) await keeper?.seal(draw, " blocks");
  const mine = drawn && (keeper ? await keeper.read(" blocks") : draw());
  markDrawn(questions, mine);
  let number = 0;
  for (const one of questions) {
    one.number = one.type === "information" ? 0 : (number += 1);
  }
  pages = listPages(questions);
}

async function prepare() {
  if (keeper && (await keeper.read())) return send({ keeper, intake, tell: openOutcome() });
  if (!status || !start) return; // a closed survey asks nothing
  try {
    await load();
    status.textContent = keeper && !keeper.isLasting() ? say("volatile") : "";
    start.hidden = false;
  } catch (error) {
    const why = error instanceof Refusal ? error.message : "offline";
    status.textContent = say(crypto.subtle ? why : "https");
  }
  start.addEventListener("click", () => {
    phase = "answering";
    go();
  });
}

addEventListener("popstate", (event) => {
  if (phase !== "submitted") {
    step = Number(event.state?.step) || 0;
    if (manifest) render();
  } else if (trail.length) {
    // A new step cuts off the others, which would tell how many there were.
    trail = [];
    history.pushState({ step: 0 }, "");
  }
});
addEventListener("pagehide", () => {
  if (phase !== "answering") return;
  // The browser may keep the page to show it again: it must not keep the answers.
  answers = {};
  trail = [];
  phase = "reading";
  render();
});
addEventListener("beforeunload", (event) => {
  if (phase === "submitted" && keeper?.isAtRisk()) event.preventDefault();
});
history.replaceState({ step: 0 }, "");
await prepare();
