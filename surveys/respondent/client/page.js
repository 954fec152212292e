/** Runs a respondent's visit, from the opening page to the end. */
import { openKeeper } from "./report/keeper.js";
import { Refusal } from "./report/manifest.js";
import { walk } from "./report/rules.js";
import { additions } from "./visit/additions.js";
import { showDemo } from "./visit/demo.js";
import { followHistory, go } from "./visit/navigation.js";
import { offerExit } from "./visit/leaving.js";
import { openOutcome } from "./visit/outcome.js";
import { isWatched, pageData } from "./visit/screen.js";
import { finish } from "./visit/submitting.js";
import { loadSurvey } from "./visit/survey.js";
import { startVisit } from "./visit/visit.js";
import { say } from "./visit/words.js";

/** @import { Visit } from "./visit/visit.js" */

/** @param {Visit} visit */
async function begin(visit) {
  visit.confirms = pageData.confirm;
  additions.offerLanguages?.(visit, () => offerStart(visit));
  offerExit(visit);
  if (pageData.mode !== "preview") {
    visit.keeper = openKeeper(pageData.hash, additions.storeLate);
  }
  const keeper = await visit.keeper;
  if (visit.phase === "left") return;
  followHistory(visit);
  addEventListener("beforeunload", (event) => {
    const { phase, answers } = visit;
    const isLoss = keeper?.isAtRisk() || (!isWatched && Object.keys(answers).length);
    if (isLoss && phase !== "left") event.returnValue = true;
  });
  if (keeper && await keeper.read()) {
    await finish(keeper, openOutcome(visit), false);
  } else {
    await offerStart(visit);
  }
}

/** @param {Visit} visit */
async function offerStart(visit) {
  const demo = document.getElementById("demo");
  const start = document.getElementById("start");
  const status = document.getElementById("status");
  if (!demo || !start || !status) return; // a closed survey asks nothing
  try {
    const keeper = await visit.keeper;
    const survey = (visit.survey = await loadSurvey(keeper));
    if (!survey.isWhole) throw new Refusal("unsafe");
    tell(status, keeper?.stay() === "memory" && !pageData.shared ? say("volatile") : "");
    start.hidden = false;
    start.addEventListener("click", () => {
      visit.phase = "answering";
      go(visit, walk(survey.pages, visit.answers).open[0]?.name);
    });
  } catch (error) {
    const why = error instanceof Refusal ? error.message : "";
    // Otherwise the page's own text fits, which says that the questions could not be loaded.
    tell(status, say(crypto.subtle ? why : "https") || status.innerText);
  }
  showDemo(demo);
}

/**
 * @param {HTMLElement} status
 * @param {string} text
 */
function tell(status, text) {
  status.textContent = text;
  const notice = /** @type {HTMLElement} */ (status.parentElement);
  notice.classList.remove("late");
  notice.hidden = !text;
}

await begin(startVisit());
