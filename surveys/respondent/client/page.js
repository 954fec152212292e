/**
 * The visit, step by step. Answers live in `answers` and nowhere else; they are dropped as soon as
 * they are scrambled, or when the page is left.
 */
import { cryptoUint32, drawBlocks, randomizeSymbol } from "./randomize.js";
import {
  Refusal,
  drawEnvelope,
  encode,
  hash,
  listPages,
  loadManifest,
  markDrawn,
  openKeeper,
  readWhole,
  send,
  walk,
} from "./report.js";

const NO_CODE = -1; // none of these
const DRAWS = 100;
const encoder = new TextEncoder();
const words = document.querySelector("template")?.content;

const find = (name) => words?.getElementById(name)?.textContent ?? "";

/** Murmur's words, with what belongs in their gaps. */
const say = (name, gaps = {}) => find(name).replace(/{(\w+)}/g, (all, gap) => gaps[gap] ?? all);

const main = document.getElementById("survey");
const { mode, title, hash: promised, manifest: url, intake, language } = main.dataset;
const status = document.getElementById("status");
const start = document.getElementById("start");
const exit = document.getElementById("exit");
const label = document.getElementById("label");
const ours = [say("no"), say("yes")];
const opening = { nodes: [...main.childNodes], title: document.title };

let keeper = null;
let answers = {};
let manifest;
let translated = new Map(); // the author's words
let pages = [];
let phase = "reading"; // then "answering", then "submitted"; or "left"
// The history holds numbers of steps; what they showed is known here.
let trail = [];
let step = 0;

/** Words become text here, never markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  element.append(...children);
  return element;
}

function when(element, act) {
  element.addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
  return element;
}

const link = (text, act, name) => when(make("a", { href: "#", class: name }, text), act);
const button = (text, act) =>
  when(make("button", { type: "button", class: "button" }, text), act);

function makeQuestion(page, progress) {
  const isText = page.type === "information";
  const title = make("h1", { tabindex: -1 }, isText ? say("read") : own(page.text));
  const head = [makeBack(), make("p", { class: "eyebrow" }, progress)];
  const proceed = (answer) => {
    answers[page.name] = answer;
    go();
  };
  if (isText) {
    const text = make("p", { class: "intro" }, own(page.text));
    return [...head, title, text, button(say("continue"), () => proceed(1))];
  }
  const { rows, first, read } = makeFields(page);
  const legend = make("legend", {}, title);
  const described = { "aria-describedby": "hint error" };
  const group = make("fieldset", described, legend, ...makeHints(page), ...rows);
  const submit = () => {
    const given = read();
    if (typeof given === "string") showError(legend, first, given);
    else proceed(given);
  };
  group.addEventListener("keydown", ({ key, isComposing }) => key === "Enter" && !isComposing && submit());
  return [...head, group, button(say("continue"), submit)];
}

function makeHints({ type, limit, low_label, high_label }) {
  const id = "hint";
  if (type === "declared") return [make("p", { id, class: "notice" }, say("declared"))];
  if (type === "several") {
    return [make("p", { id }, limit ? say("limit", { limit }) : say("all"))];
  }
  if (!low_label && !high_label) return [];
  const ends = [low_label, high_label].map((end) => own(end ?? ""));
  return [make("p", { id, class: "ends" }, ...ends)];
}

function listChoices({ type, options = [], minimum = 0, maximum = 0, refusal }) {
  const choices = options.map(({ code, text }) => ({ text, value: code, isOwn: true }));
  if (type === "scale" && !options.length) {
    for (let value = minimum; value <= maximum; value += 1) choices.push({ text: `${value}`, value });
  }
  if (type === "several") choices.push({ text: say("none"), value: NO_CODE });
  if (refusal) choices.push({ text: say("refusal"), value: null });
  return choices;
}

/** `read` gives the answer, or what is wrong. */
function makeFields(page) {
  const answer = answers[page.name];
  const { type, minimum = 0, maximum = 0, unit = "", limit = Infinity, refusal } = page;
  const [isSeveral, isNumber] = [type === "several", type === "number"];
  const input = (properties) =>
    Object.assign(document.createElement("input"), { autocomplete: "off", ...properties });
  const choices = listChoices(page);
  const boxes = choices.map(({ value }, i) => {
    const given = [answer].flat().includes(value);
    const kind = isSeveral || isNumber ? "checkbox" : "radio";
    return input({ type: kind, name: "choice", id: `choice-${i}`, checked: given });
  });
  const rows = choices.map(({ text, isOwn }, i) =>
    make("label", { class: "choice" }, boxes[i], isOwn ? own(text) : make("span", {}, text)),
  );
  // Not all keyboards of digits have a minus.
  const line = input({ inputMode: minimum < 0 ? "text" : "numeric", value: answer ?? "" });
  const range = { minimum, maximum };
  if (isNumber) {
    const title = make("span", {}, say("number", range));
    rows.unshift(make("label", { class: "number" }, title, line, " ", own(unit)));
  }
  if (type === "scale") {
    const points = rows.splice(0, rows.length - Number(!!refusal));
    rows.unshift(make("div", { class: "scale" }, ...points));
  }

  // "None of these" and a refusal stand alone.
  const isAlone = (i) => (choices[i].value ?? NO_CODE) === NO_CODE;
  boxes.forEach((box, i) =>
    box.addEventListener("change", () => {
      line.value = "";
      boxes.forEach((other, j) => {
        if (i !== j && box.checked && (isAlone(i) || isAlone(j))) other.checked = false;
      });
    }),
  );
  line.addEventListener("input", () => boxes.forEach((box) => (box.checked = false)));

  const read = () => {
    const chosen = choices.filter((_, i) => boxes[i].checked).map(({ value }) => value);
    if (isNumber && !chosen.length) {
      // Keyboards have digits of other scripts, too.
      const digits = line.value.normalize("NFKC").replace(/[٠-٩۰-۹]/g, (one) => one.charCodeAt(0) & 15);
      const typed = digits.trim().replace("−", "-");
      const value = /^-?\d+$/.test(typed) ? Number(typed) : NaN;
      return value >= minimum && value <= maximum ? value : say("type", range);
    }
    if (chosen.length > limit) return say("limit", { limit });
    if (isSeveral && chosen.length && chosen[0] !== null) return chosen;
    if (chosen.length) return chosen[0];
    const [one, other, more] = boxes.map((box) => box.parentElement.textContent);
    if (isSeveral) return say("some");
    return more ? say("one") : say("either", { one, other });
  };
  return { rows, first: isNumber ? line : boxes[0], read };
}

function showError(legend, first, text) {
  for (const old of document.querySelectorAll(".error-summary, .error")) old.remove();
  const summary = make(
    "div",
    { class: "error-summary", role: "group", "aria-labelledby": "problem", tabindex: -1 },
    make("h2", { id: "problem" }, say("problem")),
    make("p", {}, link(text, () => first.focus(), "fix")),
  );
  legend.after(make("p", { class: "error", id: "error" }, text));
  document.querySelector(".back")?.after(summary);
  const prefix = `${say("error")} `;
  document.title = prefix + document.title.replace(prefix, "");
  summary.focus();
}

function makeCheck(asked) {
  const rows = asked.map((page) => {
    const { name, text, type } = page;
    const again = link(say("change"), () => go(name), "again");
    again.append(make("span", { class: "visually-hidden" }, say("change-what"), own(text)));
    const chosen = make("dd", {}, ...describe(page));
    if (type === "declared") chosen.append(make("small", {}, say("plain")));
    return make("div", {}, make("dt", {}, own(text)), chosen, make("dd", {}, again));
  });
  const isMixed = asked.some(({ type }) => type === "declared");
  return [
    makeBack(),
    make("h1", { tabindex: -1 }, say("check-title")),
    make("dl", { class: "checks" }, ...rows),
    make("p", {}, say("check"), isMixed ? ` ${say("mixed")}` : ""),
    button(say("submit"), () => submit(false)),
    ...(mode === "disk" ? [] : [make("p", {}, link(say("hold"), () => submit(true), "again"))]),
  ];
}

function describe({ name, options = [], unit = "" }) {
  const answer = answers[name];
  if (answer === null) return [say("refusal")];
  if (!options.length) return [`${answer} `, own(unit)];
  const chosen = options.filter(({ code }) => [answer].flat().includes(code));
  return chosen.length ? chosen.flatMap(({ text }, i) => [i ? say("comma") : "", own(text)]) : [say("none")];
}

/** From here on there is no way back. */
function openOutcome() {
  phase = "submitted";
  const heading = make("h1", { tabindex: -1 });
  const sentence = make("p", { role: "status", class: "outcome" });
  const act = make("div");
  const tell = (name, stay = "", actions = {}) => {
    const isLost = !heading.textContent || act.contains(document.activeElement);
    heading.textContent = say(`${name}-title`) || say("waiting");
    if (isLost) heading.focus();
    sentence.textContent = `${say(name)} ${say(stay)}`.trim();
    document.title = `${heading.textContent} · ${title}`;
    act.replaceChildren(...Object.entries(actions).map(([word, then]) => button(say(word), then)));
    const closing = /sent|before/.test(name) && find("closing");
    if (closing) act.append(make("p", { class: "intro closing", dir: "auto" }, closing));
  };
    const showReceipt = async (body, ...more) => {
    const digest = [...(await hash(encoder.encode(body)))];
    const hex = digest.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const odds = [...(label?.querySelectorAll(".odds") ?? [])].map((one) => one.cloneNode(true));
    const [bytes, print] = [body, hex].map((text) => make("code", { dir: "ltr" }, text));
    const parts = [make("p", {}, say("receipt")), bytes, make("p", {}, say("hash")), print];
    const receipt = fold("receipt-title", ...parts, ...odds);
    receipt.open = mode === "disk";
    act.append(receipt, ...more);
  };
  show([make("section", { class: "label over" }, heading, sentence, act)], title);
  return { tell, showReceipt };
}

const fold = (title, ...nodes) => make("details", {}, make("summary", {}, say(title)), ...nodes);
const foldLabel = () => fold("label", label.cloneNode(true));
const makeBack = () => link(say("back"), () => history.back(), "back");

/** Nothing of it is kept or sent. */
function showDemo(demo) {
  const channel = { k: 2, threshold: Number(demo.dataset.threshold) };
  const [, picture, sentence] = demo.querySelectorAll("p");
  // The first button says Yes, the second No.
  demo.querySelectorAll("button").forEach((button, i) =>
    button.addEventListener("click", () => {
      const draw = () => randomizeSymbol(1 - i, channel, cryptoUint32);
      const codes = Array.from({ length: DRAWS }, draw);
      const yes = codes.filter(Boolean).length;
      picture.textContent = codes.map((code) => (code ? "●" : "○")).join("").replace(/.{10}/g, "$&\n");
      sentence.textContent = say("demo", { answer: button.textContent, yes, no: DRAWS - yes });
    }),
  );
  demo.hidden = false;
}

function show(nodes, name) {
  main.replaceChildren(...nodes);
  document.title = name;
  scrollTo(0, 0);
  main.querySelector("h1:not(:empty)")?.focus({ preventScroll: true });
}

function look() {
  const { open } = walk(pages, answers);
  const gap = open.findIndex(({ name }) => answers[name] === undefined);
  return { open, next: gap < 0 ? open.length : gap };
}

/** A step, or the last in reach. */
function render() {
  if (phase !== "answering" || !trail[step]) return show(opening.nodes, opening.title);
  const { open, next } = look();
  const found = open.findIndex(({ name }) => name === trail[step]);
  const place = found < 0 ? next : Math.min(found, next);
  const page = open[place];
  const asked = open.filter(({ number }) => number);
  if (!page) return show([...makeCheck(asked), foldLabel()], `${say("check-title")} · ${title}`);
  let progress = "";
  // Where answers cannot change how many there are.
  if (page.number && !pages.some(({ rule }) => rule)) {
    const gaps = { number: page.number, which: asked.indexOf(page) + 1, of: asked.length };
    progress = say(manifest.drawn ? "drawn" : "progress", gaps);
  }
  const name = progress || say("page", { page: place + 1 });
  show([...makeQuestion(page, progress), foldLabel()], `${name} · ${title}`);
}

/** The author's words. */
function own(text) {
  const found = translated.get(text);
  const span = document.createElement("span");
  span.lang = found || ours.includes(text) ? document.documentElement.lang : manifest.language;
  span.dir = "auto";
  span.textContent = found ?? text;
  return span;
}

function go(name) {
  const { open, next } = look();
  step += 1;
  trail.length = step;
  trail[step] = name ?? open[next]?.name ?? "check";
  history.pushState({ step }, "");
  render();
}

const travel = (steps) =>
  new Promise((resolve) => {
    addEventListener("popstate", resolve, { once: true });
    setTimeout(resolve, 1000);
    history.go(steps);
  });

/** Nothing to see, nothing kept, and nothing of the survey to go back to. */
async function leave() {
  document.documentElement.hidden = true;
  document.title = "";
  answers = {};
  phase = "left";
  await Promise.race([keeper?.forget(), new Promise((resolve) => setTimeout(resolve, 500))]);
  if (step) {
    await travel(-step);
    history.pushState({}, ""); // hides how many steps there were
    await travel(-1);
  }
  location.replace(exit.href);
}

exit?.addEventListener("click", (event) => {
  event.preventDefault();
  void leave();
});
let shifts = [];
addEventListener("keydown", ({ key, repeat, timeStamp }) => {
  if (repeat || !exit) return;
  shifts = key === "Shift" ? [...shifts.slice(-2), timeStamp] : [];
  if (shifts.length === 3 && timeStamp - shifts[0] < 5000) void leave();
});
addEventListener("pageshow", () => phase === "left" && location.reload());

if (mode !== "preview") keeper = await openKeeper(promised);

/** A code that is held is sent only when the person says so. */
async function submit(held) {
  const { tell, showReceipt } = openOutcome();
  tell("sending");
  history.go(-step);
  const draw = () => drawEnvelope(promised, manifest.questions, pages, answers);
  step = 1; // left by the way back
  let drawn;
  try {
    if (!keeper) return tell("preview");
    drawn = await keeper.seal(() => (held ? { ...draw(), held } : draw()));
  } catch {
    return tell("failed");
  } finally {
    answers = {};
  }
  await finish({ tell, showReceipt, other: !drawn });
}

async function finish({ tell, showReceipt, other }) {
  const { held, over, ...envelope } = (await keeper.read()) ?? {};
  if (mode === "disk" && !over) {
    const erase = async () => {
      await keeper.write({ over: "sent" });
      tell("before");
    };
    tell("disk");
    return showReceipt(encode(envelope), button(say("erase"), erase));
  }
  if (held) {
    // The other tab's code holds nothing of what was chosen here.
    const stay = other ? "other" : keeper.stay();
    await new Promise((resolve) => tell("held", stay, { send: resolve }));
    await keeper.release();
  }
  const body = await send({ keeper, intake, tell, other });
  if (body) await showReceipt(body);
}

async function load() {
  manifest = await loadManifest(url, promised);
  const { blocks, drawn, questions, translations = {} } = manifest;
  const expected = translations[language];
  if (expected) {
    const known = await readWhole(encoder.encode(find("own")), expected);
    translated = new Map(Object.entries(known));
  }
  const draw = () => drawBlocks(blocks, drawn ?? blocks, cryptoUint32);
  if (drawn) await keeper?.seal(draw, " blocks");
  const mine = drawn && (keeper ? await keeper.read(" blocks") : draw());
  markDrawn(questions, mine);
  let number = 0;
  for (const one of questions) {
    one.number = one.type === "information" ? 0 : (number += 1);
  }
  pages = listPages(questions, ours);
}

async function prepare() {
  if (await keeper?.read()) return finish(openOutcome());
  if (!status || !start) return; // a closed survey asks nothing
  try {
    await load();
    status.textContent = keeper?.stay() === "memory" ? say("volatile") : "";
    start.hidden = false;
  } catch (error) {
    const why = error instanceof Refusal ? error.message : "offline";
    status.textContent = say(crypto.subtle ? why : "https");
  }
  showDemo(document.getElementById("demo"));
  start.addEventListener("click", () => {
    phase = "answering";
    go();
  });
}

addEventListener("popstate", (event) => {
  if (phase === "left") return;
  if (phase !== "submitted") {
    step = Number(event.state?.step) || 0;
    if (manifest) render();
  } else if (trail.length) {
    // Hides how many steps there were.
    trail = [];
    history.pushState({ step: 0 }, "");
  }
});
addEventListener("pagehide", () => {
  if (phase !== "answering") return;
  // Browsers may keep the page to show it again.
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
