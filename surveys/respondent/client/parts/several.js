/** A question that is answered with any number of rows, or with none of them. */
import { make } from "../visit/elements.js";
import { makeChoices } from "../visit/boxes.js";
import { kinds, listExtras, listOptions, withRefusal } from "../visit/fields.js";
import { say } from "../visit/words.js";

const NONE = -1; // the value of "None of these"

kinds.several = {
  makeFields: (page, { answers }, quote) => {
    const { limit = Infinity, options = [], refusal } = page;
    const none = { text: say("none"), value: NONE };
    const choices = withRefusal(page, [...listOptions(page), none]);
    const { boxes, rows, readChosen } = makeChoices(choices, "checkbox", answers[page.name], quote);
    keepAlone(boxes, options.length);
    rows.splice(options.length, 0, make("p", { class: "or" }, say("or")));
    const read = () => {
      const chosen = readChosen();
      if (chosen.length > limit) return say("over", { chosen: chosen.length, limit });
      if (!chosen.length) return say(refusal ? "some-refusal" : "some");
      return chosen[0] === null ? null : /** @type {number[]} */ (chosen);
    };
    return { rows, first: () => boxes[0], read };
  },
  describe: (page, answer, quote) => {
    const chosen = listOptions(page).filter(({ value }) => [answer].flat().includes(value));
    if (!chosen.length) return [say("none")];
    return chosen.flatMap(({ text }, i) => [i ? say("comma") : "", quote(text)]);
  },
  // If other letters are possible, the first one says whether the rows were answered at all.
  spell: (page) => {
    const extras = listExtras(page);
    return [...(extras.length ? [["", ...extras]] : []), [say("no"), say("yes")]];
  },
  hint: ({ limit }) => limit ? say("limit", { limit }) : say("all"),
};

/**
 * "None of these" and a refusal, which come after the rows, each stand alone.
 * @param {HTMLInputElement[]} boxes
 * @param {number} rows
 */
function keepAlone(boxes, rows) {
  boxes.forEach((box, i) =>
    box.addEventListener("change", () =>
      boxes.forEach((other, j) => {
        if (i !== j && box.checked && (i >= rows || j >= rows)) other.checked = false;
      }))
  );
}
