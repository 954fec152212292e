/**
 * From the frozen questions to the report. It is drawn once, kept until it is acknowledged and sent
 * as the same bytes at every try; then only a mark remains. Answers are never kept.
 * In Python: surveys/manifest/rules.py, aggregator/simulation/respondents.py.
 */
import { checkChannel, checkWhole, cryptoUint32, randomizeReport } from "./randomize.js";

const TYPES = ["yes_no", "choice", "scale", "several", "number", "follow_up", "declared"];
const SMALLEST_BATCH = 10;
const MOST_POINTS = 7; // of a scale that is not rounded like a number
const LARGEST_TOTAL = 20; // ε
const STORE = "envelopes";
const SECONDS_BETWEEN_TRIES = [1, 2, 4, 8, 16];
const LONGEST_WAIT = 60;
const LONGEST_PAUSE = 1800;
const PATIENCE = 20_000; // milliseconds for one try
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export class Refusal extends Error {}

export function toBase64url(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export const hash = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

export async function readWhole(bytes, promised) {
  if (toBase64url(await hash(bytes)) !== promised) throw new Refusal("changed");
  return JSON.parse(new TextDecoder().decode(bytes));
}

async function fetchWhole(url) {
  const response = await fetch(url, { redirect: "error" });
  if (!response.ok) throw new TypeError(`${url} answered ${response.status}`);
  return response.arrayBuffer();
}

export async function loadManifest(url, promised) {
  const manifest = await readWhole(await within(20, fetchWhole(url)), promised);
  try {
    checkManifest(manifest);
  } catch {
    throw new Refusal("unsafe");
  }
  return manifest;
}

/** Finds channels and blocks, too. */
export function checkManifest(manifest) {
  const { format, minimum_batch, display_minimum, questions, drawn } = manifest;
  checkWhole(format, 1, 1);
  checkWhole(minimum_batch, SMALLEST_BATCH, Infinity);
  checkWhole(display_minimum, minimum_batch, Infinity);
  for (const question of questions) question.channels = findChannels(question);
  const count = findBlocks(questions);
  if (drawn !== undefined) checkWhole(drawn, 1, count - 1);
  const losses = Array(count).fill(0);
  for (const one of questions) if (one.block >= 0) losses[one.block] += measure(one);
  const largest = losses.sort((a, b) => b - a).slice(0, drawn);
  demand(largest.reduce((sum, loss) => sum + loss) <= LARGEST_TOTAL);
  manifest.blocks = count;
}

function findChannels(question) {
  const { type, k = 0, threshold = 0, options = [], refusal, rule, limit = 1 } = question;
  const { minimum = NaN, maximum = NaN, gate_threshold = 0 } = question;
  if (type === "information") return [];
  const isSeveral = type === "several";
  const points = maximum - minimum + 1;
  const isRounded = type === "number" || (type === "scale" && points > MOST_POINTS);
  const codes = options.map(({ code }) => code).sort((a, b) => a - b);
  const answers = isRounded || isSeveral ? 2 : codes.length;
  const extras = Number(!!refusal) + Number(!!rule);
  demand(TYPES.includes(type) && k === answers + (isSeveral ? 0 : extras));
  demand(codes.every((code, i) => code === i + Number(isSeveral)));
  checkWhole(limit, 1, Infinity);
  if (type === "scale" && !isRounded) checkWhole(answers, points, points);
  if (type === "follow_up") checkWhole(answers, 3, 3);
  if (type === "declared") {
    checkWhole(extras, 0, 0);
    checkWhole(k, 2, 64);
    return [null];
  }
  if (isRounded) {
    checkWhole(minimum, -Infinity, Infinity);
    checkWhole(codes.length, 0, 0);
    checkWhole(points, 2, 2 ** 20);
  }
  const channel = isRounded ? { k, threshold, minimum, maximum } : { k, threshold };
  const gate = isSeveral && extras ? [{ k: extras + 1, threshold: gate_threshold }] : [];
  const channels = [...gate, ...(isSeveral ? codes.map(() => channel) : [channel])];
  channels.forEach(checkChannel);
  return channels;
}

function findBlocks(questions) {
  const known = new Map();
  let tied = questions.map(({ channels }, i) => (channels[0] ? i : -1));
  questions.forEach(({ name, type, options = [], rule }, i) => {
    for (const leaf of rule ? leaves(rule) : []) {
      const [count, owner] = known.get(leaf.name) ?? [0, i];
      demand(owner < i);
      for (const code of leaf.is) checkWhole(code, 0, count - 1);
      const [own, other] = [tied[i], tied[owner]];
      if (own >= 0 && other >= 0) tied = tied.map((block) => (block === other ? own : block));
    }
    const parts = type === "several" ? options.map(({ code }) => `${name}_${code}`) : [];
    for (const part of [name, ...parts]) {
      demand(!known.has(part));
      known.set(part, [parts.length ? 2 : options.length, i]);
    }
  });
  const blocks = [...new Set(tied)].filter((block) => block >= 0);
  questions.forEach((question, i) => (question.block = blocks.indexOf(tied[i])));
  return blocks.length;
}

/** Its ε. */
function measure({ type, channels, options = [], limit = Infinity }) {
  // If at most r can be chosen, two answers differ in at most 2r places.
  const equal = type === "several" ? Math.max(0, options.length - 2 * limit) : 0;
  return channels.slice(0, channels.length - equal).reduce((sum, channel) => {
    const { k, threshold } = channel;
    return sum + Math.log((threshold * (k - 1)) / (2 ** 32 - threshold));
  }, 0);
}

function demand(condition) {
  if (!condition) throw new RangeError("the manifest is broken");
}

export function holds({ all, any, not, name, is }, codes) {
  if (all) return all.every((part) => holds(part, codes));
  if (any) return any.some((part) => holds(part, codes));
  return not ? !holds(not, codes) : is.some((code) => code === codes[name]);
}

function leaves(rule) {
  const parts = rule.all ?? rule.any ?? (rule.not && [rule.not]);
  return parts ? parts.flatMap(leaves) : [rule];
}

/** A text goes where the questions go that its rule names. */
export function markDrawn(questions, mine) {
  const out = new Set();
  for (const one of questions) {
    const { name, rule, block } = one;
    const hangs = rule && leaves(rule).some((leaf) => out.has(leaf.name?.split("_")[0]));
    one.isDrawn = !mine || (block < 0 ? !hangs : mine.includes(block));
    if (!one.isDrawn) out.add(name);
  }
}

export function listPages(questions, words) {
  return questions.flatMap((question) => {
    const { name, type, follow_up: text = "" } = question;
    if (type !== "follow_up") return [question];
    const options = words.map((text, code) => ({ code, text })).reverse();
    const rule = { name, is: [1] };
    const then = { ...question, options, name: `${name}+`, text, rule, follows: name };
    return [{ ...question, options }, then];
  });
}

/** The open pages and their codes. Answers on other pages are dropped. */
export function walk(pages, answers) {
  const codes = {};
  const open = pages.filter(({ name, options = [], rule, isDrawn, follows }) => {
    if (!isDrawn || (rule && !holds(rule, codes))) {
      delete answers[name];
      return false;
    }
    const answer = answers[name];
    const code = typeof answer === "number" ? answer : undefined;
    // Of the two parts of a follow-up come the codes 0 No, 1 Yes then Yes, 2 Yes then No.
    if (follows) codes[follows] = code === undefined ? code : 2 - code;
    else codes[name] = code;
    if (Array.isArray(answer)) {
      for (const { code } of options) codes[`${name}_${code}`] = Number(answer.includes(code));
    }
    return true;
  });
  return { open, codes };
}

/** The truth behind each symbol; undefined cannot be sent. */
export function findLatents(question, codes, isAsked) {
  const { name, type, options = [], channels, minimum = 0, rule, refusal, isDrawn } = question;
  const [first] = channels;
  if (!isDrawn || first === undefined) return channels.map(() => null);
  const isSeveral = type === "several";
  const own = codes[isSeveral ? `${name}_1` : name];
  // After the answers come the codes of a refusal and of a question not asked.
  const last = (first?.k ?? 0) - 1;
  const refused = refusal && own === undefined ? last - Number(!!rule) : undefined;
  const missing = isAsked ? refused : last;
  if (isSeveral) {
    const items = options.map(({ code }) => (missing ? 0 : codes[`${name}_${code}`]));
    return channels.length > items.length ? [missing ?? 0, ...items] : items;
  }
  return [first?.maximum === undefined ? (missing ?? own) : { value: own ?? minimum, missing }];
}

export function drawEnvelope(manifest, questions, pages, answers) {
  const id = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const { open, codes } = walk(pages, answers);
  const names = open.map(({ name }) => name);
  const latents = questions.flatMap((one) => findLatents(one, codes, names.includes(one.name)));
  const channels = questions.flatMap((one) => one.channels);
  const drawn = randomizeReport(latents, channels, cryptoUint32);
  const symbols = drawn.map((code) => (code === null ? "~" : ALPHABET[code])).join("");
  return { manifest, id, symbols };
}

/** Without storage only this page's memory keeps. */
export async function openKeeper(hash) {
  const kept = {};
  let database = navigator.locks && (await within(5, openDatabase()).catch(() => undefined));

  const read = async (part = "") => {
    try {
      const reading = database?.transaction(STORE).objectStore(STORE).get(hash + part);
      // Erased meanwhile, it is still known here.
      if (reading) kept[part] = (await settled(reading)) ?? kept[part];
    } catch {
      database = undefined;
    }
    return kept[part];
  };
  const write = async (value, part = "") => {
    kept[part] = value;
    try {
      if (database) await put(database, hash + part, value);
    } catch {
      database = undefined; // go on from memory
    }
  };

  const lock = async (act) => {
    try {
      if (database) return await navigator.locks.request(`murmur ${hash}`, act);
    } catch {
      // go on alone
    }
    return act();
  };
  /** Of many tabs one draws; the others find it. */
  const seal = (draw, part = "") =>
    lock(async () => {
      if (await read(part)) return false;
      await write(draw(), part);
      return true;
    });
  const release = () =>
    lock(async () => {
      const { held, ...envelope } = await read();
      if (held) await write(envelope);
    });
  /** Of a code that may have arrived, it stays known that there was one. */
  const forget = () =>
    lock(async () => {
      await write(undefined, " blocks");
      const envelope = await read();
      if (envelope && !envelope.over) await write({ over: "left" });
    });

  const stay = () => (database ? "lasting" : "memory");
  const isAtRisk = () => !database && kept[""] && !kept[""].over;
  return { read, write, seal, release, forget, stay, isAtRisk };
}

async function openDatabase() {
  const opening = indexedDB.open("murmur", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  return settled(opening);
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function put(database, key, value) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    if (value === undefined) store.delete(key);
    else store.put(value, key);
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}

export const encode = ({ manifest, id, symbols }) =>
  `{"format":1,"manifest":"${manifest}","id":"${id}","symbols":"${symbols}"}`;

/** Returns the bytes if they were sent now. */
export async function send({ keeper, intake, tell, other }) {
  const kept = await keeper.read();
  if (!kept) return;
  if ("over" in kept) {
    const before = other ? "other" : "before";
    return tell(kept.over === "sent" ? before : kept.over);
  }
  const body = encode(kept);
  const stay = keeper.stay();
  let agreed = false;
  for (let pause = LONGEST_WAIT; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    tell("sending");
    const { outcome, seconds } = await deliver(keeper, intake, body, () => tell("trying", stay));
    if (outcome === "sent" || outcome === "closed" || outcome === "refused") {
      await keeper.write({ over: outcome });
    }
    if (outcome !== "later" && outcome !== "early") {
      tell(outcome === "unfit" ? "refused" : outcome === "sent" && other ? "other" : outcome);
      return outcome === "sent" ? body : undefined;
    }
    agreed ||= await new Promise((resolve) => {
      tell(outcome, stay, { again: () => resolve(false), agree: () => resolve(true) });
    });
    if (agreed) {
      tell("agreed", stay);
      await findChance(Math.max(pause, seconds));
    }
  }
}

function findChance(seconds) {
  return new Promise((resolve) => {
    addEventListener("online", resolve, { once: true });
    void sleep(Math.min(seconds, 86_400)).then(resolve);
  });
}

/** Thousands must not return at once. */
function sleep(seconds) {
  const jitter = cryptoUint32() / 2 ** 33;
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds * (1 + jitter)));
}

/** Gives up on what hangs. */
function within(seconds, promise) {
  const late = new Promise((_, reject) => setTimeout(reject, 1000 * seconds, new Error("too slow")));
  return Promise.race([promise, late]);
}

async function deliver(keeper, url, body, onWaiting) {
  for (const pause of [...SECONDS_BETWEEN_TRIES, Infinity]) {
    // Another tab may have sent it, or the person may have left.
    const { over } = await keeper.read();
    if (over) return { outcome: over };
    const { outcome, seconds } = await post(url, body);
    const wait = Math.max(pause, seconds);
    const isOver = outcome !== "later" && outcome !== "early";
    if (isOver || wait > LONGEST_WAIT || !navigator.onLine) return { outcome, seconds };
    onWaiting();
    await sleep(wait);
  }
}

async function post(url, body) {
  const control = new AbortController();
  setTimeout(() => control.abort(), PATIENCE);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      mode: "cors", // in others, and without a referrer, Firefox names no origin
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: control.signal,
    });
    const seconds = Number(response.headers.get("Retry-After")) || 0;
    return { outcome: await interpret(response), seconds };
  } catch {
    return { outcome: "later", seconds: 0 };
  }
}

async function interpret(response) {
  const { ok, status } = response;
  // Only the intake's own words count: others may come from in between.
  const { status: word, type = "" } = await response.json().catch(() => ({}));
  if (ok) return word === "recorded" || word === "already-recorded" ? "sent" : "later";
  if (!type.startsWith("/problems/")) return "later";
  if (status === 409) return "refused";
  if (status === 410) return "closed";
  if (status === 425) return "early";
  return status >= 500 || status === 408 || status === 429 ? "later" : "unfit";
}
