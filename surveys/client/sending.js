/**
 * Sends the sealed envelope, the same bytes at every try, and says how it went.
 */
import { cryptoUint32 } from "./randomize.js";

const SECONDS_BETWEEN_TRIES = [1, 2, 4, 8, 16];
const LONGEST_WAIT = 60;
const PATIENCE = 20_000; // milliseconds for one try
const NOT_SENT = "Not sent yet. Your answer is still scrambled the same way.";
const REFUSED = "It was not counted. Please tell the people who gave you the link.";

/** @type {Record<string, [string, string]>} */
const WORDS = {
  sent: ["Thank you", "Your code was sent. You can close this page."],
  before: [
    "A code was already sent from this browser",
    "Thank you. Each person answers once. You can close this page.",
  ],
  other: [
    "Your code was sent from another tab",
    "What you chose in this tab was dropped. You can close this page.",
  ],
  closed: ["This survey is closed", "Your code came too late, so it was not counted."],
  refused: ["This survey could not take your code", REFUSED],
  unfit: ["This survey could not take your code", REFUSED],
};

/** Sends what is kept, and erases it when it is acknowledged. @param {Visit} visit */
export async function send(visit) {
  const { keeper, intake, tell, other } = visit;
  const kept = await keeper.read();
  if (!kept) return;
  if ("over" in kept) {
    const known = kept.over === "sent" ? (other ? "other" : "before") : kept.over;
    tell(...WORDS[known]);
    return;
  }
  tell("Sending your code", "One moment.");
  const stay = keeper.isLasting()
    ? "You can also close this page and come back to it later."
    : "Keep this page open.";
  const outcome = await deliver(intake, kept, () =>
    tell("Still trying", `${NOT_SENT} This page tries again by itself. ${stay}`),
  );
  if (outcome === "sent" || outcome === "closed" || outcome === "refused") {
    await keeper.write({ over: outcome });
  }
  if (outcome === "later" || outcome === "early") {
    const why = outcome === "early" ? "This survey is not open yet." : "Try again.";
    tell("Your code is waiting", `${NOT_SENT} ${why} ${stay}`, () => void send(visit));
  } else {
    tell(...WORDS[outcome === "sent" && other ? "other" : outcome]);
  }
}

/**
 * Tries a few times, waiting in between as long as the server asks for.
 * @param {string} url @param {Envelope} envelope
 * @param {() => void} onWaiting  called when a try failed and another one follows
 * @returns {Promise<Outcome>}
 */
async function deliver(url, { manifest, id, symbols }, onWaiting) {
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
