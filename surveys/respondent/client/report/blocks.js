/** Finds blocks: questions that rules tie together, so that a person is asked all or none. */
import { checkWhole } from "../randomize.js";
import { demand } from "./channels.js";
import { leaves } from "./rules.js";

/** @import { Question } from "./manifest.js" */

/**
 * Numbers the blocks and returns how many there are. Checks the names in the rules.
 * @param {Question[]} questions
 */
export function findBlocks(questions) {
  /** @type {Map<string, [codes: number, owner: number]>} */
  const known = new Map();
  let tied = questions.map(({ channels }, i) => (channels[0] ? i : -1));
  questions.forEach(({ name, type, options = [], rule }, i) => {
    for (const leaf of rule ? leaves(rule) : []) {
      const [count, owner] = known.get(leaf.name) ?? [0, i];
      demand(owner < i);
      for (const code of leaf.is) checkWhole(code, 0, count - 1);
      const [own, other] = [tied[i], tied[owner]];
      if (own >= 0 && other >= 0) tied = tied.map((block) => (block === other ? own : block));
    }
    const parts = type === "several" ? options.map(({ code }) => `${name}_${code}`) : [];
    for (const part of [name, ...parts]) {
      demand(!known.has(part));
      known.set(part, [parts.length ? 2 : options.length, i]);
    }
  });
  const blocks = [...new Set(tied)].filter((block) => block >= 0);
  questions.forEach((question, i) => (question.block = blocks.indexOf(tied[i])));
  return blocks.length;
}
