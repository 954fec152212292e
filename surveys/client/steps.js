/**
 * Builds what is shown: a question, the check before sending, and how the sending went.
 */

/**
 * Words only ever become text here, never markup.
 * @param {string} tag @param {object} attributes @param {...(Node | string)} children
 */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  element.append(...children);
  return element;
}

/** @param {HTMLElement} element @param {() => void} act  instead of following an address */
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
const button = (text, act) => when(make("button", { type: "button", class: "button" }, text), act);

/** Of the author's words, not of ours. @param {Manifest} manifest */
const authored = (manifest) => ({ lang: manifest.language, dir: "auto" });

/** @param {Step} step */
export function questionStep({ manifest, index, code, back, proceed }) {
  const { text, options } = manifest.questions[index];
  const own = authored(manifest);
  const radios = options.map((option, i) => {
    const radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: "choice", id: `choice-${i}`, autocomplete: "off" });
    radio.checked = option.code === code;
    return radio;
  });
  const rows = options.map((option, i) =>
    make("label", { class: "choice", ...own }, radios[i], make("span", {}, option.text)),
  );
  const legend = make("legend", {}, make("h1", { tabindex: -1, ...own }, text));
  const group = make("fieldset", {}, legend, ...rows);
  const submit = () => {
    const chosen = radios.findIndex((radio) => radio.checked);
    if (chosen < 0) showError(group, radios[0], options);
    else proceed(options[chosen].code);
  };
  group.addEventListener("keydown", (event) => event.key === "Enter" && submit());
  const progress = `Question ${index + 1} of ${manifest.questions.length}`;
  return [
    link("Back", back, "back"),
    make("p", { class: "eyebrow" }, progress),
    group,
    button("Continue", submit),
  ];
}

/** @param {HTMLElement} group @param {HTMLElement} first @param {Option[]} options */
function showError(group, first, options) {
  const [one, other, more] = options.map((option) => option.text);
  const text = more ? "Choose one of the rows." : `Choose ${one} or ${other}.`;
  for (const old of document.querySelectorAll(".error-summary, .error")) old.remove();
  const summary = make(
    "div",
    { class: "error-summary", role: "group", "aria-labelledby": "problem", tabindex: -1 },
    make("h2", { id: "problem" }, "There is a problem"),
    make("p", {}, link(text, () => first.focus(), "fix")),
  );
  group.firstElementChild?.after(make("p", { class: "error", id: "error" }, text));
  group.setAttribute("aria-describedby", "error");
  document.querySelector(".back")?.after(summary);
  document.title = `Error: ${document.title.replace("Error: ", "")}`;
  summary.focus();
}

/** @param {Check} step */
export function checkStep({ manifest, codes, back, change, submit }) {
  const own = authored(manifest);
  const rows = manifest.questions.map(({ text, options }, i) => {
    const chosen = options.find((option) => option.code === codes[i])?.text ?? "Not provided";
    const again = link("Change", () => change(i), "again");
    again.append(make("span", { class: "visually-hidden" }, ` the answer to: ${text}`));
    return make("div", {}, make("dt", own, text), make("dd", own, chosen), make("dd", {}, again));
  });
  return [
    link("Back", back, "back"),
    make("h1", { tabindex: -1 }, "Check your answers"),
    make("dl", { class: "checks" }, ...rows),
    make("p", {}, "When you press Submit, this page scrambles your answers. Only the code is sent."),
    button("Submit", submit),
  ];
}

/** Reports on the sending: screen readers say what `tell` changes. @param {string} survey */
export function outcomeStep(survey) {
  const heading = make("h1", { tabindex: -1 });
  const sentence = make("p", { role: "status", class: "outcome" });
  const act = make("div");
  /** @type {Tell} */
  const tell = (title, text, again) => {
    document.title = `${title} · ${survey}`;
    heading.textContent = title;
    sentence.textContent = text;
    act.replaceChildren(...(again ? [button("Try again", again)] : []));
  };
  return { card: make("section", { class: "label over" }, heading, sentence, act), tell };
}

/** The privacy label once more, folded. @param {Node} label */
export function fold(label) {
  const summary = make("summary", {}, "How your answers are protected");
  return make("details", {}, summary, label.cloneNode(true));
}
