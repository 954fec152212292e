/** The page as one file: it shows the code, and the person hands it in. */
import { encode } from "../report/envelope.js";
import { make, makeButton } from "../visit/elements.js";
import { additions } from "../visit/additions.js";
import { say } from "../visit/words.js";

additions.handOver = (keeper, drawn, { announce, showReceipt }) => {
  const erase = async () => {
    await keeper.write({ over: "sent" });
    announce("before");
  };
  const code = drawn ? encode(drawn) : "";
  announce("disk");
  return showReceipt(code, ...makeCopy(code), makeButton(say("erase"), erase));
};

/** @param {string} code */
function makeCopy(code) {
  const copied = make("p", { "aria-live": "polite" });
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    copied.textContent = say("copied");
  };
  // Without the clipboard, the code can still be selected.
  return navigator.clipboard ? [makeButton(say("copy"), () => void copy()), copied] : [];
}
