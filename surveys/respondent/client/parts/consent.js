/**
 * The page before the first question: what people agree to, and how old they must be. Its boxes
 * have no names in any form, and nothing about them is kept or sent.
 */
import { copyAll, make, makeBack, makeLink } from "../visit/elements.js";
import { additions } from "../visit/additions.js";
import { makeInput } from "../visit/boxes.js";
import { kinds } from "../visit/fields.js";
import { show } from "../visit/screen.js";
import { say } from "../visit/words.js";

/** @import { Visit } from "../visit/visit.js" */

additions.preface = ({ consent = "", minimum_age }) => {
  const name = "consent"; // of no question, so no code depends on it
  const fixed = { channels: [], block: -1, isDrawn: true, number: 0 };
  return [{ name, type: name, text: consent, minimum: minimum_age, ...fixed }];
};

kinds.consent = {
  makeTitle: () => say("consent-title"),
  makeFields: ({ text, minimum }, visit, quote) => {
    const names = [...(text ? ["consent-box"] : []), ...(minimum ? ["age-box"] : [])];
    const checked = !!visit.answers.consent;
    const boxes = names.map(() => makeInput({ type: "checkbox", defaultChecked: checked }));
    /** @type {HTMLElement[]} */
    const rows = names.map((name, i) =>
      make("label", { class: "choice" }, boxes[i], make("span", {}, say(name)))
    );
    const findOpen = () => boxes.find((box) => !box.checked);
    if (text) rows.unshift(make("p", { class: "intro" }, quote(text)));
    return {
      rows,
      first: () => findOpen() ?? boxes[0],
      read: () => findOpen() ? say("consent-error") : 1,
      after: [makeLink(say("decline"), () => decline(visit), "again")],
    };
  },
  describe: () => [],
};

/** @param {Visit} visit */
function decline(visit) {
  visit.phase = "reading";
  visit.answers = {};
  const title = say("declined-title");
  const heading = make("h1", { tabindex: -1 }, title);
  const nodes = [makeBack(), heading, make("p", {}, say("declined")), ...copyAll("footer .help")];
  show(nodes, title);
}
