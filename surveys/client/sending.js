/**
 * Sends the sealed envelope, the same bytes at every try, and says how it went.
 */
import { cryptoUint32 } from "./randomize.js";

const SECONDS_BETWEEN_TRIES = [1, 2, 4, 8, 16];
const LONGEST_WAIT = 60;
const PATIENCE = 20_000; // milliseconds for one try

/** Sends what is kept, and erases it when it is acknowledged. @param {Visit} visit */
export async function send(visit) {
  const { keeper, intake, tell, other } = visit;
  const kept = await keeper.read();
  if (!kept) return;
  if ("over" in kept) {
    const before = other ? "other" : "before";
    return tell(kept.over === "sent" ? before : kept.over);
  }
  tell("sending");
  const stay = keeper.isLasting() ? "lasting" : "memory";
  const outcome = await deliver(intake, kept, () => tell("trying", stay));
  if (outcome === "sent" || outcome === "closed" || outcome === "refused") {
    await keeper.write({ over: outcome });
  }
  if (outcome === "later" || outcome === "early") tell(outcome, stay, () => void send(visit));
  else if (outcome === "unfit") tell("refused");
  else tell(outcome === "sent" && other ? "other" : outcome);
}

/**
 * Tries a few times, and waits in between as long as the server asks for.
 * @param {string} url @param {Envelope} envelope @param {() => void} onWaiting
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
