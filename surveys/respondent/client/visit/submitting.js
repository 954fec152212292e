/** From "Submit" to the end. From here on there is no way back to the answers. */
import { drawEnvelope, encode } from "../report/envelope.js";
import { send } from "../report/sending.js";
import { makeButton } from "./elements.js";
import { openOutcome } from "./outcome.js";
import { given } from "./screen.js";
import { say } from "./words.js";

/**
 * @import { Keeper } from "../report/keeper.js"
 * @import { Outcome } from "./outcome.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * @param {Visit} visit
 * @param {Survey} survey
 * @param {boolean} held A report that is held is sent only when the person says so.
 */
export async function submit(visit, { questions, pages }, held) {
  const { keeper } = visit;
  const outcome = openOutcome(visit);
  outcome.tell("sending");
  history.go(-visit.step);
  const draw = () => drawEnvelope(given.hash, questions, pages, visit.answers);
  visit.step = 1; // left by the way back
  let drawn;
  try {
    if (!keeper) return outcome.tell("preview");
    drawn = await keeper.seal(() => (held ? { ...draw(), held } : draw()));
  } catch {
    return outcome.tell("failed");
  } finally {
    visit.answers = {};
  }
  await finish(keeper, outcome, !drawn);
}

/**
 * Sends what is kept, or says what became of it.
 * @param {Keeper} keeper
 * @param {Outcome} outcome
 * @param {boolean} other Whether another tab drew the report.
 */
export async function finish(keeper, { tell, showReceipt }, other) {
  const kept = await keeper.read();
  if (given.mode === "disk" && kept?.over === undefined) {
    const erase = async () => {
      await keeper.write({ over: "sent" });
      tell("before");
    };
    tell("disk");
    return showReceipt(kept ? encode(kept) : "", makeButton(say("erase"), erase));
  }
  if (kept?.held) {
    // The other tab's report holds nothing of what was chosen here.
    const stay = other ? "other" : keeper.stay();
    await new Promise((resolve) => tell("held", stay, { send: () => resolve(undefined) }));
    await keeper.release();
  }
  const body = await send({ keeper, intake: given.intake, tell, other });
  if (body) await showReceipt(body);
}
