/** Runs the page that says when a survey opens, with the part for moments. */
import { offerExit } from "./visit/leaving.js";
import { startVisit } from "./visit/visit.js";

offerExit(startVisit());
