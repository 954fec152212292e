/** The page as one file: it shows the code, also as a picture, and the person hands it in. */
import { drawSymbol } from "../qr/symbol.js";
import { encode } from "../report/envelope.js";
import { make, makeButton } from "../visit/elements.js";
import { additions } from "../visit/additions.js";
import { say } from "../visit/words.js";

const QUIET = 4; // light modules around the symbol

// From disk, no other address can stand ahead in the history, so leaving.js leaves this one there.
if (location.hash === "#left") {
  document.documentElement.hidden = true;
  location.replace(/** @type {HTMLAnchorElement} */ (document.getElementById("exit")).href);
}

additions.handOver = (keeper, drawn, { announce, showReceipt }) => {
  const erase = async () => {
    await keeper.end({ over: "sent" });
    announce("before");
  };
  const done = makeButton(say("erase"), erase);
  done.classList.add("plain");
  const code = drawn ? encode(drawn) : "";
  announce("disk");
  const bytes = make("code", { dir: "ltr" }, code);
  return showReceipt(code, bytes, ...makeCopy(code), ...makePicture(code), done);
};

/** @param {string} text */
function makeCopy(text) {
  const copied = make("p", { "aria-live": "polite" });
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.textContent = say("copied");
  };
  // Without the clipboard, the text can still be selected.
  return navigator.clipboard ? [makeButton(say("copy"), () => void copy()), copied] : [];
}

/** @param {string} code */
function makePicture(code) {
  const modules = drawSymbol(code);
  if (!modules) return [make("p", {}, say("unscanned"))];
  const space = "http://www.w3.org/2000/svg";
  const [picture, paper, ink] = ["svg", "rect", "path"].map((tag) =>
    document.createElementNS(space, tag)
  );
  const side = modules.length + 2 * QUIET;
  const dots = modules.flatMap((row, y) =>
    row.map((isDark, x) => (isDark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : ""))
  );
  /** @type {[SVGElement, Record<string, string>][]} */
  const attributes = [
    [picture, {
      viewBox: `0 0 ${side} ${side}`,
      class: "qr",
      role: "img",
      "aria-label": say("qr"),
    }],
    [paper, { width: "100%", height: "100%", fill: "#fff" }],
    [ink, { d: dots.join(""), "shape-rendering": "crispEdges" }],
  ];
  for (const [element, values] of attributes) {
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  }
  picture.append(paper, ink);
  return [make("p", {}, say("scan")), picture];
}
