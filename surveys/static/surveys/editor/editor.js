/**
 * The editor of a draft's questions on one page. The server makes every form. This script shows
 * the chosen form, saves it while authors type, and moves, copies and deletes questions.
 *
 * @import { Outcome, Typed } from "./saving.js"
 */

import { openKept } from "./kept.js";
import { startMoving } from "./moving.js";
import { findPanel, parse, startSaving } from "./saving.js";

const QUESTION = /\/questions\/(?:new|(\d+)\/edit)$/;
const OFFLINE = "No connection. ";
const REFRESH = 2000; // after the last change of the list

/** @param {string} id */
const get = (id) => document.getElementById(id);
const editor = /** @type {HTMLElement} */ (get("editor"));
const place = /** @type {HTMLElement} */ (get("place"));
const { account = "", survey = "", new: newUrl = "", selected = "" } = editor.dataset;
const page = location.pathname;

const list = () => get("question-list");
const token = () =>
  document.querySelector("[name=csrfmiddlewaretoken]")?.getAttribute("value") ?? "";
/** @param {string} tag @param {Record<string, unknown>} properties @param {(Node | string)[]} parts */
const make = (tag, properties, ...parts) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...parts);
  return element;
};
/** @param {string} text */
const say = (text) => {
  const said = get("said");
  if (said) said.textContent = text;
};

/** @type {string} The id of the open question's draft, or empty if none is open. */
let current = "";
/** @type {string | undefined} The form of a new question, loaded in advance. */
let blank;
let opening = 0;
let refreshing = 0;

/** The open disclosures, which the server fills. */
const listOpen = () =>
  [...place.querySelectorAll("details[data-fold][open]")].map((one) =>
    /** @type {HTMLElement} */ (one).dataset.fold ?? ""
  );
const kept = openKept(account, survey);
const saving = startSaving({ kept, token, listOpen, tell, stop });
const { drafts, turn } = saving;
const form = () => findPanel(place);
/** Whether only the type was changed, which may be a slip. The next act saves the change. */
const isSwitched = () => form()?.dataset.fields === "";

/** @param {HTMLFormElement} typed */
const read = (typed) => new URLSearchParams(/** @type {any} */ (new FormData(typed)));
/** @param {HTMLFormElement} typed */
const serialize = (typed, left = /^(csrf|stamp|keep-)/) => {
  const fields = read(typed);
  for (const name of [...fields.keys()]) if (left.test(name)) fields.delete(name);
  return fields.toString();
};

/** @param {string} id */
const isNew = (id) => id.startsWith("new-");
const draw = () => `new-${crypto.getRandomValues(new Uint32Array(3)).join("-")}`;

/** @param {string} text @param {boolean} [isProblem] */
const setState = (text, isProblem = false) => {
  const state = get("panel-state");
  if (!state || state.textContent === text) return;
  state.textContent = text;
  state.classList.toggle("warn", isProblem);
  if (isProblem) say(text);
};

/** @param {string} textContent @param {string} [id] */
const warn = (textContent, id = "") => {
  const told = make("p", { id, className: "notice notice-bad", role: "alert", textContent });
  get("told")?.append(told);
  told.scrollIntoView({ block: "nearest" });
};

const failed = (advice = "Try again.") => {
  const problem = OFFLINE + advice;
  if (form()) setState(problem, true);
  else {
    get("failed")?.remove();
    warn(problem, "failed");
  }
};

const showState = () => {
  const draft = drafts.get(current);
  const room = saving.isFull() ? " This browser has no room to keep it until then." : "";
  if (!draft && !isSwitched()) setState(current && !isNew(current) ? "Saved" : "");
  else if (draft?.state === "offline") {
    setState(`${OFFLINE}Your text is saved once you are online.${room}`, true);
  } else if (draft?.problem && draft.state === "refused") {
    setState(`Not saved: ${draft.problem}`, true);
  } else if (/waiting|refused/.test(draft?.state ?? "waiting") && !saving.isStopped()) {
    setState(`Not saved yet.${room}`, saving.isFull());
  } else setState("Not saved", true);
  showUnsaved();
};

const showUnsaved = () => {
  get("unsaved")?.remove();
  const waiting = [...drafts.values()].filter((one) =>
    one.id !== current && one.state !== "waiting"
  );
  if (!waiting.length) return;
  const items = waiting.map((draft) => {
    const text = new URLSearchParams(draft.fields).get("text") || "No text";
    const onclick = () => open(draft.url, { id: draft.id });
    const className = "button button-secondary button-small";
    const textContent = `Not saved: ${text.slice(0, 60)}`;
    return make("li", {}, make("button", { type: "button", className, textContent, onclick }));
  });
  const last = list() ?? get("questions")?.lastElementChild;
  last?.after(make("ul", { id: "unsaved", className: "links" }, ...items));
};

/** @param {Typed} draft @param {Outcome} outcome @param {Document} [reply] @param {boolean} [isCurrent] @param {string} [before] */
function tell(draft, outcome, reply, isCurrent, before = draft.id) {
  const panel = reply && findPanel(reply);
  if (outcome === "saved" && reply) putRow(reply);
  const shown = form();
  if (before === current && shown) {
    current = draft.id;
    if (panel && outcome === "saved") {
      shown.action = panel.action;
      shown.dataset.pk = panel.dataset.pk;
      setStamp(shown, draft.stamp);
      setHash();
    }
    // Text typed since then is newer than the reply.
    if (reply && panel && (isCurrent || outcome === "overtaken")) swapParts(reply);
    if (outcome === "overtaken") say("This was changed in another window.");
    if (outcome === "gone") offerAgain(draft);
  }
  showState();
}

/** @param {string} problem */
function stop(problem) {
  const where = kept.isForgotten() ? "is on this page only" : "stays in this browser for a week";
  warn(`${problem} Nothing more is saved. What you typed ${where}.`);
  showState();
}

/** @param {Typed} draft */
const offerAgain = (draft) => {
  const onclick = () => {
    const id = draw();
    const { search } = new URL(draft.url, location.href);
    current = id;
    addKey(/** @type {HTMLFormElement} */ (form()), id);
    notice.remove();
    saving.addAgain(draft, id, `${newUrl}${search}`);
  };
  const className = "button button-small";
  const again = make("button", { type: "button", className, textContent: "Add it again", onclick });
  const text = "This question was deleted in another window. What you typed is below. ";
  const notice = make("p", { className: "notice notice-warm" }, text, again);
  place.querySelector("[data-part=told]")?.replaceChildren(notice);
  say(text);
};

/** @param {HTMLFormElement} shown @param {string} stamp */
const setStamp = (shown, stamp) => {
  const field = shown.elements.namedItem("stamp");
  if (field instanceof HTMLInputElement) field.value = stamp;
};

/** @param {HTMLFormElement} shown @param {string} id */
const addKey = (shown, id) => {
  const value = id.slice(4);
  const found = shown.elements.namedItem("draft_key");
  if (found instanceof HTMLInputElement) found.value = value;
  else shown.append(make("input", { type: "hidden", name: "draft_key", value }));
};

const setHash = () => {
  const hash = isNew(current) ? "#new" : `#question-${current}`;
  history.replaceState(null, "", `${page}${current ? hash : ""}`);
  for (const row of editor.querySelectorAll(".question-item")) {
    const link = row.querySelector(".question-edit");
    if (row.id === `question-${current}`) link?.setAttribute("aria-current", "true");
    else link?.removeAttribute("aria-current");
  }
};

/** @param {Element} one */
const nameOf = (one) =>
  one.id || `${one.closest("[id]")?.id} ${one.querySelector("summary")?.textContent}`;

/**
 * Replaces an element with its newer version. The focus is kept, and disclosures stay open.
 * @param {Element} old
 * @param {Element} newer
 */
const replace = (old, newer) => {
  const focused = old.contains(document.activeElement) ? document.activeElement : undefined;
  const opened = [...document.querySelectorAll("details[open]")].map(nameOf);
  for (const one of [newer, ...newer.querySelectorAll("details")]) {
    if (one instanceof HTMLDetailsElement) one.open ||= opened.includes(nameOf(one));
  }
  old.replaceWith(newer);
  if (!focused) return;
  const same = focused.id ? `#${CSS.escape(focused.id)}` : `.${focused.classList[0]}`;
  const details = focused.closest("details")?.id ?? "";
  /** @type {HTMLElement | null} */
  const again = document.querySelector(same);
  (again ?? get(details)?.querySelector("summary"))?.focus({ preventScroll: true });
};

/** @param {Document} reply */
const swapParts = (reply) => {
  for (const newer of reply.querySelectorAll("[data-part]")) {
    const old = place.querySelector(`[data-part="${newer.getAttribute("data-part")}"]`);
    const isTyped = document.activeElement?.matches(
      "textarea, input:not([type=radio], [type=checkbox])",
    );
    if (old && !(isTyped && old.contains(document.activeElement))) replace(old, newer);
  }
};

const close = () => {
  current = "";
  place.hidden = true;
  place.replaceChildren();
  editor.classList.remove("editor-open");
};

/** @param {Document} reply @param {string} id @param {boolean} isFocused */
const show = (reply, id, isFocused) => {
  place.replaceChildren(...reply.body.childNodes);
  place.querySelector("template#row")?.remove();
  place.hidden = place.inert = false;
  get("failed")?.remove();
  editor.classList.add("editor-open");
  const shown = form();
  current = shown ? id : "";
  if (shown && isNew(id)) addKey(shown, id);
  setHash();
  showState();
  const [rows, row] = [list(), get(`question-${current}`)];
  if (row) rows?.scrollTo({ top: row.offsetTop - rows.offsetTop - rows.clientHeight / 2 });
  const draft = drafts.get(id);
  if (draft?.state === "gone") offerAgain(draft);
  if (!isFocused) return;
  const first = shown?.elements.namedItem("text") ?? place.querySelector("a");
  if (!(first instanceof HTMLElement)) return;
  first.focus({ preventScroll: innerWidth >= 960 });
  if (first instanceof HTMLTextAreaElement) {
    first.setSelectionRange(first.value.length, first.value.length);
  }
};

/** Opens a question, as typed or as saved. */
const open = async (
  /** @type {string} */ url,
  /** @type {{isFocused?: boolean, id?: string, instead?: Typed}} The form is shown instead of it. */
  {
    isFocused = true,
    id = QUESTION.exec(new URL(url, location.href).pathname)?.[1] ?? draw(),
    instead,
  } = {},
) => {
  const number = ++opening;
  saving.flush();
  const typed = instead ? undefined : drafts.get(id);
  if (typed) {
    await turn(async () => {});
    if (!drafts.has(id)) ({ id, url } = typed); // it has been saved
  }
  if (number !== opening) return;
  const draft = instead ? undefined : drafts.get(id);
  if (draft?.panel) return show(parse(draft.panel), id, isFocused);
  const body = draft && new URLSearchParams(draft.fields);
  body?.set("stamp", draft?.stamp ?? "");
  // "cost" saves nothing. An overtaken draft is not saved anyway: both versions are shown.
  if (draft?.state !== "overtaken") body?.set("cost", "1");
  if (draft?.state === "gone") url = `${newUrl}${new URL(url, location.href).search}`;
  let response, text;
  try {
    response = await saving.request(url, body);
    text = await response.text();
  } catch {
    place.inert = false;
    return failed();
  }
  if (number !== opening) return;
  const reply = parse(text);
  if (findPanel(reply) || reply.querySelector(".type-list")) {
    if (instead) saving.drop(instead);
    show(reply, id, isFocused);
    return true;
  }
  if (response.status === 404) refresh();
  else saving.halt(response, reply);
};

const loadBlank = async () => {
  const response = await saving.request(`${newUrl}?type=yes_no`);
  const text = await response.text();
  if (findPanel(parse(text))) blank = text;
};

const openBlank = async () => {
  saving.flush();
  const number = ++opening;
  try {
    if (!blank) await loadBlank();
  } catch {
    return failed();
  }
  if (blank && number === opening) show(parse(blank), draw(), true);
  else if (!blank) open(`${newUrl}?type=yes_no`);
};

const goOn = () => {
  const text = form()?.elements.namedItem("text");
  if (text instanceof HTMLTextAreaElement && !text.value.trim()) return text.focus();
  remember(0);
  const next = get(`question-${current}`)?.nextElementSibling;
  if (next) openRow(next);
  else openBlank();
};

/** @param {number} wait */
const remember = (wait) => {
  const typed = form();
  if (!typed || !current) return;
  const fields = serialize(typed);
  const draft = drafts.get(current);
  if (!draft && fields === typed.dataset.fields) return;
  typed.dataset.fields = fields;
  if (draft && draft.fields === fields && draft.state !== "waiting") return;
  const stamp = typed.elements.namedItem("stamp");
  const at = Date.now();
  const made = draft ?? { id: current, url: typed.action, fields, stamp: "", sent: "", at };
  if (!draft && !isNew(current) && stamp instanceof HTMLInputElement) made.stamp = stamp.value;
  made.url = draft ? made.url : typed.action;
  made.fields = fields;
  saving.put(made, wait);
  showState();
};

place.addEventListener("focusin", () => {
  const typed = form();
  if (typed && typed.dataset.fields === undefined) typed.dataset.fields = serialize(typed);
});
place.addEventListener("toggle", async ({ target }) => {
  const shown = form();
  const isEmpty = target instanceof HTMLDetailsElement && target.open &&
    target.querySelector("[data-folded]");
  if (!isEmpty || !shown) return;
  const before = serialize(shown);
  const body = read(shown);
  body.set("cost", "1");
  for (const fold of listOpen()) body.append("shown", fold);
  try {
    const reply = parse(await (await saving.request(shown.action, body)).text());
    const fold = reply.getElementById(target.id);
    if (fold && form() === shown && serialize(shown) === before) replace(target, fold);
  } catch {
    failed();
  }
}, true);
place.addEventListener("input", ({ target }) => {
  const isTyped = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
  if (isTyped) {
    const shown = place.querySelector(`[data-typed="${target.name}"]`);
    // If the node were replaced, browsers would recompute the styles of all rows.
    if (shown?.firstChild) shown.firstChild.nodeValue = target.value || " ";
  }
  const isText = isTyped && !["radio", "checkbox"].includes(target.type);
  remember(isText ? saving.PAUSE : 100);
});
place.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (!(target instanceof HTMLTextAreaElement) || target.name !== "text") return;
  if (form()?.dataset.plain === undefined) return;
  event.preventDefault();
  goOn();
});
place.addEventListener("submit", (event) => {
  event.preventDefault();
  goOn();
});
place.addEventListener("click", ({ target }) => {
  const button = target instanceof Element && target.closest("button");
  const draft = drafts.get(current);
  const shown = form();
  if (!button) return;
  if (button.dataset.act) act(button.dataset.act);
  else if (button.dataset.keep && draft && shown) {
    place.inert = true; // until the chosen version is shown
    saving.insist(draft, serialize(shown, /^(csrf|stamp)/), button.dataset.keep);
    open(draft.url, { id: draft.id });
  } else if (button.dataset.drop !== undefined && draft) {
    saving.drop(draft);
    open(draft.url);
  }
});

/** @param {ParentNode} part */
const addHandles = (part) => {
  for (const row of part.querySelectorAll(".question-mark")) {
    if (row.querySelector(".question-handle")) continue;
    const called = row.querySelector(".question-select")?.textContent?.trim() ?? "";
    row.append(make("button", {
      type: "button",
      className: "question-handle",
      ariaLabel: called.replace("Select", "Move"),
      title: "Drag, or use the arrow keys",
      id: `move-${row.querySelector("input")?.value}`,
    }));
  }
};

/** @param {Document} reply */
const putRow = (reply) => {
  const template = reply.querySelector("template#row");
  const row = template instanceof HTMLTemplateElement && template.content.firstElementChild;
  if (!row) return;
  if (isDragging() || moving) return refreshLater(); // or the moved row would be taken out
  addHandles(template.content);
  const old = get(row.id);
  const facts = (/** @type {Element} */ one) => one.querySelector(".question-facts")?.textContent;
  if (!old && !list()) return void refresh();
  // The total below the list changes at once, and the rest of its card later.
  const total = reply.querySelector("[data-total]")?.textContent;
  const shown = document.querySelector("#budget [data-total]");
  if (!old || facts(old) !== facts(row) || total !== shown?.textContent) refreshLater();
  if (total && shown) shown.textContent = total;
  if (old) {
    const box = row.querySelector("input[type=checkbox]");
    const isTicked = old.querySelector(":checked") !== null;
    if (box instanceof HTMLInputElement) box.checked = isTicked;
    replace(old, row);
  } else list()?.append(row);
  setHash();
};

/** Replaces all but the open form. @param {Document} reply */
const swapPage = (reply) => {
  if (!reply.getElementById("editor")) return false;
  addHandles(reply);
  const ticked = [...editor.querySelectorAll(".question-list :checked")].map(({ id }) => id);
  const scrolled = list()?.scrollTop ?? 0;
  for (const name of ["#told", "#questions", "#whole", ".survey-head"]) {
    const [old, newer] = [document, reply].map((one) => one.querySelector(name));
    if (old && newer) replace(old, newer);
  }
  for (const id of ticked) {
    const box = get(id);
    if (box instanceof HTMLInputElement) box.checked = true;
  }
  get("told")?.querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });
  list()?.scrollTo({ top: scrolled, behavior: "instant" });
  setHash();
  showUnsaved();
  loadBlank().catch(() => {});
  return true;
};

/** @param {Response} response @param {() => unknown} [isBusy] */
const take = async (response, isBusy) => {
  const reply = parse(await response.text());
  if (isBusy?.()) refreshLater();
  else if (!swapPage(reply)) saving.halt(response, reply);
};

// Nothing is replaced while a row is moved or a form is filled in.
const refresh = () => {
  clearTimeout(refreshing);
  const isBusy = () =>
    isDragging() || moving || document.activeElement?.closest("#whole, .everything");
  return turn(async () => take(await saving.request(page), isBusy)).catch(() => refreshLater());
};
const refreshLater = () => {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, REFRESH);
};

/**
 * Posts a form that changes the list. Returns the added rows, unless another question was opened.
 * @param {string} url
 * @param {URLSearchParams} body
 */
const post = (url, body, opened = opening) => {
  saving.flush();
  sendMove();
  clearTimeout(refreshing);
  return turn(async () => {
    const before = new Set([...editor.querySelectorAll(".question-item")].map(({ id }) => id));
    await take(await saving.request(url, body));
    const rows = [...editor.querySelectorAll(".question-item")];
    return opening === opened ? rows.filter(({ id }) => !before.has(id)) : undefined;
  }).catch(() => {
    failed("Look at the list, and try again.");
    refreshLater(); // perhaps only the reply was lost
    return undefined;
  });
};

/** @param {string} action */
const act = async (action) => {
  const id = current;
  const opened = opening;
  const row = get(`question-${id}`);
  const near = (row?.nextElementSibling ?? row?.previousElementSibling)?.id;
  const draft = drafts.get(id);
  if (action === "delete" && draft) saving.drop(draft);
  if (isNew(id) && action === "delete") {
    close();
    return setHash();
  }
  remember(0);
  const typed = drafts.get(id);
  await saving.flush();
  const question = typed?.id ?? id; // current may differ
  if (isNew(question)) return showState(); // it could not be saved
  const added = await post(selected, new URLSearchParams({ action, question }), opened);
  if (!added) return;
  if (added.length) openRow(added[0]);
  else if (action === "delete" && !get(`question-${id}`)) {
    close();
    const next = near && get(near);
    if (next) await openRow(next, false);
    get("undo")?.focus();
  }
};

/** @param {Element} row */
const openRow = async (row, isFocused = true) => {
  const link = row.querySelector(".question-edit");
  if (link instanceof HTMLAnchorElement) await open(link.href, { isFocused });
};

/** @type {{row: HTMLElement, timer: number} | undefined} */
let moving;

const sendMove = () => {
  if (!moving) return;
  const { row, timer } = moving;
  clearTimeout(timer);
  moving = undefined;
  const key = (/** @type {Element | null} */ one) => one?.id.replace("question-", "") ?? "";
  const after = key(row.previousElementSibling);
  const body = new URLSearchParams({ action: "move", question: key(row), after });
  turn(async () => {
    const response = await saving.request(selected, body, { redirect: "manual" });
    if (response.type === "opaqueredirect") return refreshLater();
    await take(response);
    get(`move-${key(row)}`)?.focus();
  }).catch(() => refresh());
};

const { isDragging } = startMoving(editor, {
  list,
  say,
  moved: (row) => {
    if (moving && moving.row !== row) sendMove();
    clearTimeout(moving?.timer);
    moving = { row, timer: setTimeout(sendMove, 500) };
    list()?.querySelectorAll(".question-number[data-number]").forEach((one, at) => {
      one.lastChild && (one.lastChild.textContent = ` ${at + 1}`);
    });
  },
});

document.addEventListener("submit", async (event) => {
  const sent = event.target;
  if (!(sent instanceof HTMLFormElement) || sent.dataset.swaps === undefined) return;
  event.preventDefault();
  const body = read(sent);
  const button = event.submitter;
  if (button instanceof HTMLButtonElement && button.name) body.set(button.name, button.value);
  // Not sent.action, which is a button.
  const added = await post(sent.getAttribute("action") ?? "", body);
  if (!added) return;
  if (current && !isNew(current)) {
    if (!get(`question-${current}`)) close();
    else if (!drafts.has(current)) open(form()?.action ?? page, { isFocused: false });
  }
  const [first] = added;
  if (first) await openRow(first, false);
  (first?.querySelector("input") ?? get("undo"))?.focus();
});

document.addEventListener("click", async (event) => {
  const link = event.target instanceof Element && event.target.closest("a");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey) return;
  const url = new URL(link.href);
  if (link.dataset.types !== undefined) {
    event.preventDefault();
    await saving.flush();
    const { pathname } = new URL(form()?.action ?? newUrl, location.href);
    Object.assign(place.dataset, { types: pathname, id: current });
    return open(`${pathname}?type=`, { id: "" });
  }
  if (link.closest(".type-list")) {
    event.preventDefault();
    return chooseType(url.searchParams);
  }
  if (isSwitched()) remember(0);
  if (QUESTION.test(url.pathname) && url.origin === location.origin) {
    event.preventDefault();
    return url.pathname === newUrl && !url.search ? openBlank() : open(link.href);
  }
  // Typed text is saved before the page is left.
  const isLeaving = link.target === "" && (url.pathname !== page || url.search);
  if (!isLeaving || ![...drafts.values()].some(({ state }) => state === "waiting")) return;
  event.preventDefault();
  await Promise.race([saving.flush(), new Promise((done) => setTimeout(done, 1500))]);
  location.assign(link.href);
});

/** @param {URLSearchParams} query */
const chooseType = async (query) => {
  const { types, id = "" } = place.dataset;
  const draft = drafts.get(id);
  const text = new URLSearchParams(draft?.fields).get("text");
  if (text) query.set("text", text);
  const isShown = await open(`${types}?${query}`, { instead: draft, ...(isNew(id) && { id }) });
  if (!isShown) return; // the draft stays
  const shown = form();
  if (!shown || (isNew(id) && !draft)) return;
  shown.dataset.fields = "";
  if (draft) remember(saving.PAUSE);
  showState();
};

const openNamed = async () => {
  const hash = location.hash.slice(1);
  const named = /^question-\d+$/.test(hash) && get(hash);
  if (named) await openRow(named, false);
  else if (hash === "new" || hash === newUrl) await openBlank();
  else if (hash.startsWith(`${page}/`) && QUESTION.test(hash.split("?")[0])) await open(hash);
};

const start = async () => {
  editor.classList.add("editing");
  addHandles(editor);
  loadBlank().catch(() => {});
  const found = await kept.adopt();
  for (const draft of found) saving.put(draft, 0);
  const [latest] = found.sort((one, other) => other.at - one.at);
  if (latest && !location.hash.startsWith("#question-")) {
    await open(latest.url, { id: latest.id, isFocused: false });
  } else await openNamed();
};

addEventListener("hashchange", openNamed);
start();
