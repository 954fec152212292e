/** Scrambles the answer to a harmless question 100 times. Nothing is kept or sent. */
import { cryptoUint32, randomizeSymbol } from "../randomize.js";
import { say } from "./words.js";

const DRAWS = 100;

/** @param {HTMLElement} demo */
export function showDemo(demo) {
  const channel = { k: 2, threshold: Number(demo.dataset.threshold) };
  const [, picture, sentence] = demo.querySelectorAll("p");
  // The first button says Yes, the second No.
  demo.querySelectorAll("button").forEach((button, i) =>
    button.addEventListener("click", () => {
      const draw = () => randomizeSymbol(1 - i, channel, cryptoUint32);
      const codes = Array.from({ length: DRAWS }, draw);
      const yes = codes.filter(Boolean).length;
      const signs = codes.map((code) => (code ? "●" : "○")).join("");
      picture.textContent = signs.replace(/.{10}/g, "$&\n");
      sentence.textContent = say("demo", { answer: button.textContent, yes, no: DRAWS - yes });
    })
  );
}
