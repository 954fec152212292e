/**
 * The visit, step by step. Answers live in `codes`, in this page's memory and nowhere else;
 * they are dropped as soon as they are scrambled, or when the page is left.
 */
import { drawEnvelope, openKeeper } from "./envelope.js";
import { Refusal, loadManifest } from "./manifest.js";
import { send } from "./sending.js";
import { checkStep, fold, outcomeStep, questionStep } from "./steps.js";

const main = /** @type {HTMLElement} */ (document.getElementById("survey"));
const { mode, title = "", hash = "", manifest: url = "", intake = "" } = main.dataset;
const status = document.getElementById("status");
const start = document.getElementById("start");
const label = /** @type {HTMLElement} */ (document.getElementById("label"));
const opening = { nodes: [...main.childNodes], title: document.title };

/** @type {number[]} */
const codes = [];
/** @type {Manifest} */
let manifest;
let phase = "reading"; // then "answering", then "submitted"

/** @param {Node[]} nodes @param {string} name  for the title */
function show(nodes, name) {
  main.replaceChildren(...nodes);
  document.title = name;
  scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

/** How many questions have an answer, from the first one on. */
function countAnswers() {
  const gap = manifest.questions.findIndex((_, i) => codes[i] === undefined);
  return gap < 0 ? manifest.questions.length : gap;
}

/**
 * Shows a step: 0 is the opening, then come the questions, then the check. A step out of
 * reach, as the browser may remember one after a reload, gives way.
 * @param {number} wanted
 */
function open(wanted) {
  const total = manifest.questions.length;
  const step = phase === "answering" ? Math.min(wanted, countAnswers() + 1) : 0;
  const back = () => history.back();
  if (step === 0) {
    show(opening.nodes, opening.title);
  } else if (step <= total) {
    const index = step - 1;
    /** @param {number} code */
    const proceed = (code) => {
      codes[index] = code;
      go(countAnswers() === total ? total + 1 : step + 1);
    };
    const nodes = questionStep({ manifest, index, code: codes[index], back, proceed });
    show([...nodes, fold(label)], `Question ${step} of ${total} · ${title}`);
  } else {
    const change = (/** @type {number} */ index) => go(index + 1);
    const nodes = checkStep({ manifest, codes, back, change, submit });
    show([...nodes, fold(label)], `Check your answers · ${title}`);
  }
}

/** The browser's history holds step numbers, never answers. @param {number} step */
function go(step) {
  history.pushState({ step }, "");
  open(step);
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
  tell("Sending your code", "One moment.");
  const drawn = await keeper?.seal(() => drawEnvelope(hash, codes, manifest.questions));
  codes.length = 0;
  if (keeper) await send({ keeper, intake, tell, other: !drawn });
  else tell("End of the preview", "A person’s code would be sent now. Nothing was sent or stored.");
}

/** @param {unknown} error */
function explain(error) {
  if (!crypto.subtle) return "This page needs an address that starts with https. So it stops here.";
  if (error instanceof Refusal) return error.message;
  return "The questions could not be loaded. Check your connection and load the page again.";
}

async function prepare() {
  if (keeper && (await keeper.read())) return send({ keeper, intake, tell: openOutcome() });
  if (!status || !start) return; // a closed survey asks nothing
  try {
    manifest = await loadManifest(url, hash);
    status.textContent =
      keeper && !keeper.isLasting()
        ? "This browser cannot keep your code. At the end, keep this page open until it was sent."
        : "";
    start.hidden = false;
  } catch (error) {
    status.textContent = explain(error);
  }
  start.addEventListener("click", () => {
    phase = "answering";
    go(1);
  });
}

addEventListener("popstate", (event) => {
  if (manifest && phase !== "submitted") open(Number(event.state?.step) || 0);
});
addEventListener("pagehide", () => {
  if (phase !== "answering") return;
  // The browser may keep the page to show it again: it must not keep the answers.
  codes.length = 0;
  phase = "reading";
  open(0);
});
addEventListener("beforeunload", (event) => {
  if (phase === "submitted" && keeper?.isAtRisk()) event.preventDefault();
});
history.replaceState({ step: 0 }, "");
await prepare();
