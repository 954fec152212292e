/** A question that is answered with a whole number. */
import { make } from "../visit/elements.js";
import { makeChoices, makeInput } from "../visit/boxes.js";
import { kinds, listExtras, withRefusal } from "../visit/fields.js";
import { writeNumber } from "../visit/numbers.js";
import { say } from "../visit/words.js";

/** @import { Page } from "../report/rules.js" */

kinds.number = {
  makeFields: (page, { answers }, quote) => {
    const { name, minimum = 0, maximum = 0, unit = "" } = page;
    const answer = answers[name];
    const refusal = withRefusal(page, []);
    const { boxes, rows, readChosen } = makeChoices(refusal, "checkbox", answer, quote);
    // Some numeric keyboards have no minus sign.
    const inputMode = minimum < 0 ? "text" : "numeric";
    const typedField = makeInput({ inputMode, defaultValue: `${answer ?? ""}` });
    // A typed number and a refusal exclude each other.
    typedField.addEventListener("input", () => boxes.forEach((box) => (box.checked = false)));
    for (const box of boxes) box.addEventListener("change", () => (typedField.value = ""));
    const title = make("span", {}, say("number", writeRange(page)));
    if (boxes.length) rows.unshift(make("p", { class: "or" }, say("or")));
    rows.unshift(make("label", { class: "number" }, title, typedField, " ", quote(unit)));
    const read = () => {
      const [refused] = readChosen();
      if (refused !== undefined) return refused;
      const value = readNumber(typedField.value);
      if (value >= minimum && value <= maximum) return value;
      typedField.setAttribute("aria-describedby", "error");
      typedField.setAttribute("aria-invalid", "true");
      return say("type", writeRange(page));
    };
    return { rows, first: () => typedField, read };
  },
  spell: (
    page,
  ) => [[writeNumber(page.minimum ?? 0), writeNumber(page.maximum ?? 0), ...listExtras(page)]],
  describe: ({ unit = "" }, answer, quote) => [`${writeNumber(`${answer}`)} `, quote(unit)],
};

/** @param {Page} page */
const writeRange = ({ minimum = 0, maximum = 0 }) => ({
  minimum: writeNumber(minimum),
  maximum: writeNumber(maximum),
});

/** @param {string} text */
function readNumber(text) {
  // Some keyboards produce digits of other scripts.
  const digits = text.normalize("NFKC").replace(/[٠-٩۰-۹]/g, (one) => `${one.charCodeAt(0) & 15}`);
  const typed = digits.trim().replace("−", "-");
  return /^-?\d+$/.test(typed) ? Number(typed) : NaN;
}
