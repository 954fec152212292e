/**
 * From Submit to the acknowledgement: draws the code once, sends it, and says how it went.
 */
import { toBase64url } from "./manifest.js";
import { cryptoUint32, randomizeReport } from "./randomize.js";
import { deliver } from "./sending.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
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

/** @param {string} hash @param {number[]} codes  the answers @param {Question[]} questions */
export function drawEnvelope(hash, codes, questions) {
  const id = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const drawn = randomizeReport(codes, questions, cryptoUint32);
  return { manifest: hash, id, symbols: drawn.map((symbol) => ALPHABET[symbol]).join("") };
}

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
