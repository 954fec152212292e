/** Marks the questions of the blocks that were drawn, if each person is asked a random subset. */
import { leaves } from "./rules.js";

/** @import { Question } from "./manifest.js" */

/**
 * Marks the questions of the drawn blocks. A text goes with the questions that its rule names.
 * @param {Question[]} questions
 * @param {number[]} mine The drawn blocks.
 */
export function markDrawn(questions, mine) {
  /** @type {Set<string>} */
  const out = new Set();
  for (const one of questions) {
    const { name, rule, block } = one;
    const hangs = rule && leaves(rule).some((leaf) => out.has(leaf.name?.split("_")[0]));
    one.isDrawn = block < 0 ? !hangs : mine.includes(block);
    if (!one.isDrawn) out.add(name);
  }
}
