/** Scrambles the answers, drops them and sends the report. */
import { drawEnvelope } from "../report/envelope.js";
import { send } from "../report/sending.js";
import { additions } from "./additions.js";
import { openOutcome } from "./outcome.js";
import { pageData } from "./screen.js";

/**
 * @import { Keeper } from "../report/keeper.js"
 * @import { Outcome } from "./outcome.js"
 * @import { Survey } from "./survey.js"
 * @import { Visit } from "./visit.js"
 */

/**
 * @param {Visit} visit
 * @param {Survey} survey
 * @param {boolean} held Whether to keep the report until the person sends it.
 */
export async function submit(visit, { questions, pages }, held) {
  const keeper = await visit.keeper;
  const outcome = openOutcome(visit);
  outcome.announce("sending");
  const draw = () => drawEnvelope(pageData.hash, questions, pages, visit.answers);
  let drawn;
  try {
    if (!keeper) return outcome.announce("preview");
    drawn = await keeper.seal(() => (held ? { ...draw(), held } : draw()));
  } catch {
    return outcome.announce("failed");
  } finally {
    visit.answers = {};
  }
  await finish(keeper, outcome, !drawn);
}

/**
 * Sends the report that is kept, or shows what happened to it.
 * @param {Keeper} keeper
 * @param {Outcome} outcome
 * @param {boolean} other Whether another tab drew the report.
 */
export async function finish(keeper, outcome, other) {
  const { announce, showReceipt } = outcome;
  const kept = await keeper.read();
  if (additions.handOver && kept?.over === undefined) {
    return additions.handOver(keeper, kept, outcome);
  }
  if (kept?.held) {
    // The other tab's report contains nothing that was chosen in this one.
    const stay = other ? "other" : keeper.stay();
    await new Promise((resolve) => announce("held", stay, { send: () => resolve(undefined) }));
    await keeper.release();
  }
  const body = await send({ keeper, intake: pageData.intake, announce, other });
  if (body) await showReceipt(body);
}
