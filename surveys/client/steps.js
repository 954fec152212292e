/**
 * Builds what is shown: a question, the check before sending, and how the sending went.
 * Sentences that never change stand in the page itself.
 */
const REFUSED = "Prefer not to say";
const NONE = "None of these";
const NO_CODE = -1; // of "none of these"
const template = document.querySelector("template");

/** A sentence that stands in the page. @param {string} name */
export const say = (name) => template?.content.getElementById(name)?.textContent ?? "";

/**
 * Words become text here, never markup.
 * @param {string} tag @param {object} attributes @param {...(Node | string)} children
 */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  element.append(...children);
  return element;
}

/** @param {HTMLElement} element @param {() => void} act */
function when(element, act) {
  element.addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
  return element;
}

/** @param {string} text @param {() => void} act @param {string} name */
const link = (text, act, name) => when(make("a", { href: "#", class: name }, text), act);

/** @param {string} text @param {() => void} act */
const button = (text, act) =>
  when(make("button", { type: "button", class: "button" }, text), act);

/** @param {Step} step */
export function questionStep(step) {
  const { page, own, progress, back, proceed } = step;
  const isText = page.type === "information";
  const title = make("h1", { tabindex: -1, ...(!isText && own) }, isText ? "Please read" : page.text);
  const head = [link("Back", back, "back"), make("p", { class: "eyebrow" }, progress)];
  if (isText) {
    const words = make("p", { class: "intro", ...own }, page.text);
    return [...head, title, words, button("Continue", () => proceed(1))];
  }
  const { rows, first, read } = buildFields(step);
  const legend = make("legend", {}, title);
  const described = { "aria-describedby": "hint error" };
  const group = make("fieldset", described, legend, ...listHints(step), ...rows);
  const submit = () => {
    const given = read();
    if (typeof given === "string") showError(legend, first, given);
    else proceed(given);
  };
  group.addEventListener("keydown", (event) => event.key === "Enter" && submit());
  return [...head, group, button("Continue", submit)];
}

/** @param {Step} step */
function listHints({ page: { type, limit, low_label, high_label }, own }) {
  const id = "hint";
  if (type === "declared") return [make("p", { id, class: "notice" }, say("declared"))];
  if (type === "several") {
    return [make("p", { id }, limit ? `Choose at most ${limit}.` : "Choose all that apply.")];
  }
  if (!low_label && !high_label) return [];
  const ends = [low_label, high_label].map((end) => make("span", own, end ?? ""));
  return [make("p", { id, class: "ends" }, ...ends)];
}

/** What can be chosen. @param {Question} page */
function listChoices({ type, options = [], minimum = 0, maximum = 0, refusal }) {
  /** @type {Choice[]} */
  const choices = options.map(({ code, text }) => ({ text, value: code, isOwn: true }));
  if (type === "scale" && !options.length) {
    for (let value = minimum; value <= maximum; value += 1) choices.push({ text: `${value}`, value });
  }
  if (type === "several") choices.push({ text: NONE, value: NO_CODE });
  if (refusal) choices.push({ text: REFUSED, value: null });
  return choices;
}

/** `read` gives the answer, or a sentence that says what is wrong. @param {Step} step */
function buildFields({ page, own, answer }) {
  const { type, minimum = 0, maximum = 0, unit = "", limit = Infinity, refusal } = page;
  const [isSeveral, isNumber] = [type === "several", type === "number"];
  /** @param {object} properties */
  const input = (properties) =>
    Object.assign(document.createElement("input"), { autocomplete: "off", ...properties });
  const choices = listChoices(page);
  const boxes = choices.map(({ value }, i) => {
    const given = [answer].flat().includes(value);
    const kind = isSeveral || isNumber ? "checkbox" : "radio";
    return input({ type: kind, name: "choice", id: `choice-${i}`, checked: given });
  });
  const rows = choices.map(({ text, isOwn }, i) =>
    make("label", { class: "choice", ...(isOwn && own) }, boxes[i], make("span", {}, text)),
  );
  // Not every keyboard of digits has a minus.
  const line = input({ inputMode: minimum < 0 ? "text" : "numeric", value: answer ?? "" });
  const range = `whole number from ${minimum} to ${maximum}`;
  if (isNumber) {
    rows.unshift(make("label", { class: "number" }, make("span", {}, `A ${range}`), line, ` ${unit}`));
  }
  if (type === "scale") {
    const points = rows.splice(0, rows.length - Number(!!refusal));
    rows.unshift(make("div", { class: "scale" }, ...points));
  }

  // "None of these" and a refusal stand alone.
  const isAlone = (/** @type {number} */ i) => (choices[i].value ?? NO_CODE) === NO_CODE;
  boxes.forEach((box, i) =>
    box.addEventListener("change", () => {
      line.value = "";
      boxes.forEach((other, j) => {
        if (i !== j && box.checked && (isAlone(i) || isAlone(j))) other.checked = false;
      });
    }),
  );
  line.addEventListener("input", () => boxes.forEach((box) => (box.checked = false)));

  /** @returns {Answer | string} */
  const read = () => {
    const chosen = choices.filter((_, i) => boxes[i].checked).map(({ value }) => value);
    if (isNumber && !chosen.length) {
      const typed = line.value.trim().replace("−", "-");
      const value = /^-?\d+$/.test(typed) ? Number(typed) : NaN;
      return value >= minimum && value <= maximum ? value : `Type a ${range}.`;
    }
    if (chosen.length > limit) return `Choose at most ${limit}.`;
    if (isSeveral && chosen.length && chosen[0] !== null) return /** @type {number[]} */ (chosen);
    if (chosen.length) return chosen[0];
    const [one, other, more] = choices.map(({ text }) => text);
    if (isSeveral) return "Choose one or more of the rows.";
    return more ? "Choose one of the rows." : `Choose ${one} or ${other}.`;
  };
  return { rows, first: isNumber ? line : boxes[0], read };
}

/** @param {HTMLElement} legend @param {HTMLElement} first @param {string} text */
function showError(legend, first, text) {
  for (const old of document.querySelectorAll(".error-summary, .error")) old.remove();
  const summary = make(
    "div",
    { class: "error-summary", role: "group", "aria-labelledby": "problem", tabindex: -1 },
    make("h2", { id: "problem" }, "There is a problem"),
    make("p", {}, link(text, () => first.focus(), "fix")),
  );
  legend.after(make("p", { class: "error", id: "error" }, text));
  document.querySelector(".back")?.after(summary);
  document.title = `Error: ${document.title.replace("Error: ", "")}`;
  summary.focus();
}

/** @param {Check} step */
export function checkStep({ pages, answers, own, back, change, submit }) {
  const rows = pages.map((page) => {
    const { name, text, type } = page;
    const again = link("Change", () => change(name), "again");
    again.append(make("span", { class: "visually-hidden" }, ` the answer to: ${text}`));
    const chosen = make("dd", own, describe(page, answers[name]));
    if (type === "declared") chosen.append(make("small", {}, "Not scrambled"));
    return make("div", {}, make("dt", own, text), chosen, make("dd", {}, again));
  });
  const isMixed = pages.some(({ type }) => type === "declared");
  return [
    link("Back", back, "back"),
    make("h1", { tabindex: -1 }, "Check your answers"),
    make("dl", { class: "checks" }, ...rows),
    make("p", {}, say("check"), isMixed ? say("mixed") : ""),
    button("Submit", submit),
  ];
}

/** @param {Question} page @param {Answer | undefined} answer */
function describe({ options = [], unit = "" }, answer) {
  if (answer === null) return REFUSED;
  if (!options.length) return `${answer} ${unit}`.trim();
  const chosen = options.filter(({ code }) => [answer].flat().includes(code));
  return chosen.map(({ text }) => text).join(", ") || NONE;
}

/** Screen readers say what `tell` changes. @param {string} survey */
export function outcomeStep(survey) {
  const heading = make("h1", { tabindex: -1 });
  const sentence = make("p", { role: "status", class: "outcome" });
  const act = make("div");
  /** @type {Tell} */
  const tell = (name, stay = "", again) => {
    heading.textContent = say(`${name}-title`);
    sentence.textContent = `${say(name)} ${say(stay)}`.trim();
    document.title = `${heading.textContent} · ${survey}`;
    act.replaceChildren(...(again ? [button("Try again", again)] : []));
  };
  return { card: make("section", { class: "label over" }, heading, sentence, act), tell };
}

/** The privacy label once more, folded. @param {Node} label */
export function fold(label) {
  const summary = make("summary", {}, "How your answers are protected");
  return make("details", {}, summary, label.cloneNode(true));
}
