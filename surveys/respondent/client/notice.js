/** Runs the page that says when a survey opens. */
import { offerExit } from "./visit/leaving.js";
import { startVisit } from "./visit/visit.js";
import { showLocalTimes } from "./visit/words.js";

offerExit(startVisit());
showLocalTimes();
