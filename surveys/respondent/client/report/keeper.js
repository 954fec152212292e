/**
 * Keeps the report until it is acknowledged; then only a mark remains. Answers are never kept.
 * The report is drawn once, even if the survey is open in several tabs.
 */
import { openStorage } from "./storage.js";

/**
 * @import { Envelope } from "./envelope.js"
 *
 * @typedef {Envelope & { held?: boolean, over?: undefined }} Waiting If `held`, until the person
 *   sends it.
 * @typedef {{ over: string, held?: undefined }} Mark How it ended.
 * @typedef {Waiting | Mark} Kept
 * @typedef {Awaited<ReturnType<typeof openKeeper>>} Keeper
 */

// What is kept has the survey's name with one of these endings.
const REPORT = "";
const BLOCKS = " blocks";

/** @param {string} survey The hash of its manifest. */
export async function openKeeper(survey) {
  const { memory, isLasting, read, write, lock } = await openStorage(survey);

  /**
   * One tab draws; the others find what it drew. Returns whether this tab drew.
   * @param {string} part
   * @param {() => unknown} draw
   */
  const seal = (part, draw) =>
    lock(async () => {
      if (await read(part)) return false;
      await write(part, draw());
      return true;
    });

  return {
    /** @returns {Promise<Kept | undefined>} */
    read: () => read(REPORT),
    /** @param {Kept} value */
    write: (value) => write(REPORT, value),
    /** @param {() => Waiting} draw */
    seal: (draw) => seal(REPORT, draw),
    /** @returns {Promise<number[]>} */
    readBlocks: () => read(BLOCKS),
    /** @param {() => number[]} draw */
    sealBlocks: (draw) => seal(BLOCKS, draw),
    release: () =>
      lock(async () => {
        const { held, ...envelope } = await read(REPORT);
        if (held) await write(REPORT, envelope);
      }),
    /** A report may have arrived, so the mark says that there was one. */
    forget: () =>
      lock(async () => {
        await write(BLOCKS, undefined);
        const envelope = await read(REPORT);
        if (envelope && !envelope.over) await write(REPORT, { over: "left" });
      }),
    stay: () => (isLasting() ? "lasting" : "memory"),
    isAtRisk: () => !isLasting() && memory[REPORT] && !memory[REPORT].over,
  };
}
