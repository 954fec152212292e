/**
 * Sends a sealed envelope: the same bytes at every try, the same shape for everybody.
 */
import { cryptoUint32 } from "./randomize.js";

const SECONDS_BETWEEN_TRIES = [1, 2, 4, 8, 16];
const LONGEST_WAIT = 60;
const PATIENCE = 20_000; // milliseconds for one try

/**
 * Tries a few times, waiting in between as long as the server asks for.
 * @param {string} url @param {Envelope} envelope
 * @param {() => void} onWaiting  called when a try failed and another one follows
 * @returns {Promise<Outcome>}
 */
export async function deliver(url, { manifest, id, symbols }, onWaiting) {
  const body = `{"format":1,"manifest":"${manifest}","id":"${id}","symbols":"${symbols}"}`;
  for (const pause of [...SECONDS_BETWEEN_TRIES, Infinity]) {
    const { outcome, seconds } = await post(url, body);
    const wait = Math.max(pause, seconds);
    if ((outcome !== "later" && outcome !== "early") || wait > LONGEST_WAIT) return outcome;
    onWaiting();
    // Up to half as long again, so that thousands do not return at the same moment.
    const jitter = cryptoUint32() / 2 ** 33;
    await new Promise((resolve) => setTimeout(resolve, 1000 * wait * (1 + jitter)));
  }
  return "later";
}

/** @param {string} url @param {string} body @returns {Promise<Reply>} */
async function post(url, body) {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      mode: "same-origin",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE),
    });
    const seconds = Number(response.headers.get("Retry-After")) || 0;
    return { outcome: await interpret(response), seconds };
  } catch {
    return { outcome: "later", seconds: 0 }; // no line, or no reply in time
  }
}

/** @param {Response} response @returns {Promise<Outcome>} */
async function interpret(response) {
  const { ok, status } = response;
  if (ok) {
    // Only the intake's own words acknowledge: anything else may come from in between.
    const words = (await response.json()).status;
    return words === "recorded" || words === "already-recorded" ? "sent" : "later";
  }
  if (status === 409) return "refused";
  if (status === 410) return "closed";
  if (status === 425) return "early";
  return status >= 500 || status === 408 || status === 429 ? "later" : "unfit";
}
