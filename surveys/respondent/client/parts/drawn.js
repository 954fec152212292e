/** A random part of the questions for each person. */
import { cryptoUint32, drawBlocks } from "../randomize.js";
import { markDrawn } from "../report/drawing.js";
import { BLOCKS } from "../report/keeper.js";
import { additions } from "../visit/additions.js";

// The blocks are drawn once for each browser.
additions.drawPart = async (keeper, { blocks, drawn = 0, questions }) => {
  const draw = () => drawBlocks(blocks, drawn, cryptoUint32);
  if (document.documentElement.hidden) return; // the person has left; nothing is stored any more
  await keeper?.seal(draw, BLOCKS);
  markDrawn(questions, keeper ? await keeper.read(BLOCKS) : draw());
};
