/** Sends the report. Every attempt sends the same bytes. */
import { encode } from "./envelope.js";
import { sleep } from "./timing.js";

/**
 * @import { Keeper } from "./keeper.js"
 *
 * @typedef {Record<string, () => void>} Actions Buttons, by the names of their words.
 * @typedef {(name: string, stay?: string, actions?: Actions) => void} Announce
 */

const SECONDS_BETWEEN_TRIES = [1, 2, 4, 8, 16];
const LONGEST_WAIT = 60;
const LONGEST_PAUSE = 1800;
const PATIENCE = 20_000; // milliseconds for one attempt

/**
 * Sends the report that is kept. Returns the body if this call sent it.
 * @param {{ keeper: Keeper, intake: string, announce: Announce, other: boolean }} delivery `other` if
 *   another tab drew the report.
 * @returns {Promise<string | undefined>}
 */
export async function send({ keeper, intake, announce, other }) {
  const kept = await keeper.read();
  if (!kept) return undefined;
  if (kept.over !== undefined) {
    const before = other ? "other" : "before";
    announce(kept.over === "sent" ? before : kept.over);
    return undefined;
  }
  const body = encode(kept);
  let agreed = false;
  for (let pause = LONGEST_WAIT;; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    announce("sending");
    const { outcome, seconds } = await deliver(
      keeper,
      intake,
      body,
      () => announce("trying", keeper.stay()),
    );
    if (outcome === "sent" || outcome === "closed" || outcome === "refused") {
      await keeper.end({ over: outcome });
    }
    if (outcome !== "later" && outcome !== "early") {
      announce(outcome === "unfit" ? "refused" : outcome === "sent" && other ? "other" : outcome);
      return outcome === "sent" ? body : undefined;
    }
    const stay = keeper.stay();
    agreed ||= await new Promise((resolve) => {
      const [again, agree] = [() => resolve(false), () => resolve(true)];
      /** @param {string} name */
      const offer = (name) => announce(name, stay, { again, persist: agree });
      if (navigator.onLine) return offer(outcome === "later" ? "busy" : outcome);
      globalThis.ononline = () => offer("online");
      announce(outcome, stay, { again, agree });
    });
    globalThis.ononline = null;
    if (agreed) {
      announce(navigator.onLine ? "trying" : "agreed", stay);
      await findChance(Math.max(pause, seconds));
    }
  }
}

/** @param {number} seconds */
function findChance(seconds) {
  return new Promise((resolve) => {
    addEventListener("online", resolve, { once: true });
    void sleep(Math.min(seconds, 86_400)).then(resolve);
  });
}

/**
 * @typedef {{ outcome: string, seconds: number }} Result `seconds` is how long the server asks to
 *   wait before the next attempt.
 *
 * @param {Keeper} keeper
 * @param {string} url
 * @param {string} body
 * @param {() => void} onWaiting
 * @returns {Promise<Result>}
 */
async function deliver(keeper, url, body, onWaiting) {
  for (let tries = 0;; tries += 1) {
    // Another tab may have sent the report, or the person may have left.
    const kept = await keeper.read();
    if (kept?.over) return { outcome: kept.over, seconds: 0 };
    const { outcome, seconds } = await post(url, body);
    const wait = Math.max(SECONDS_BETWEEN_TRIES[tries] ?? Infinity, seconds);
    const isOver = outcome !== "later" && outcome !== "early";
    if (!isOver) await keeper.keep();
    if (isOver || wait > LONGEST_WAIT || !navigator.onLine) return { outcome, seconds };
    onWaiting();
    await sleep(wait);
  }
}

/**
 * @param {string} url
 * @param {string} body
 * @returns {Promise<Result>}
 */
async function post(url, body) {
  const control = new AbortController();
  setTimeout(() => control.abort(), PATIENCE);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      mode: "cors", // in other modes, Firefox sends no origin without a referrer
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

/** @param {Response} response */
async function interpret(response) {
  const { ok, status } = response;
  // Only the intake's own replies count, because a server in between may send others.
  const { status: word, type = "" } = await response.json().catch(() => ({}));
  if (ok) return word === "recorded" || word === "already-recorded" ? "sent" : "later";
  if (!type.startsWith("/problems/")) return "later";
  if (status === 409) return "refused";
  if (status === 410) return "closed";
  if (status === 425) return "early";
  return status >= 500 || status === 408 || status === 429 ? "later" : "unfit";
}
