/** A device that several people share: at the end, the page makes room for the next one. */
import { additions } from "../visit/additions.js";
import { make, makeButton } from "../visit/elements.js";
import { leave } from "../visit/leaving.js";
import { say } from "../visit/words.js";

additions.makeRoom = (visit) => [
  make("p", { class: "closing" }, say("room")),
  makeButton(say("next"), () => void leave(visit, location.pathname)),
];
