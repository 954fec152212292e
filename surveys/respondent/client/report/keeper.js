/**
 * Keeps the report until it is acknowledged, and then only a mark. Where several people share a
 * device, the report is stored only if it could not be sent at once, and no mark is stored. Answers
 * are never kept. The report is drawn once, even if the survey is open in several tabs.
 */
import { openStorage } from "./storage.js";

/**
 * @import { Envelope } from "./envelope.js"
 * @import { Storage } from "./storage.js"
 *
 * @typedef {Envelope & { held?: boolean, over?: undefined }} Waiting A report. If `held`, it
 *   waits until the person sends it.
 * @typedef {{ over: string, held?: undefined }} Mark How the visit ended.
 * @typedef {Waiting | Mark} Kept
 * @typedef {Awaited<ReturnType<typeof openKeeper>>} Keeper
 * @typedef {(storage: Storage) => Promise<() => Promise<void>>} StoreLate Puts off storing. Returns
 *   a function that begins it.
 */

// Keys are the hash of the survey followed by one of these.
export const REPORT = "";
export const BLOCKS = " blocks";

/**
 * @param {string} survey The hash of its manifest.
 * @param {StoreLate} [storeLate] Where several people share a device.
 */
export async function openKeeper(survey, storeLate) {
  const storage = await openStorage(survey);
  const { memory, isLasting, read, write, lock } = storage;
  const storeNow = await storeLate?.(storage);

  /** @param {Mark} mark This page remembers it, so it draws and sends nothing twice. */
  const end = async (mark) => {
    await write(BLOCKS, undefined);
    await write(REPORT, mark, !storeLate);
  };

  /** @type {Promise<void> | undefined} */
  let storing;

  return {
    /** @returns {Promise<any>} The report as `Kept`, the blocks as numbers; undefined if not kept. */
    read: (part = REPORT) => read(part),
    end,
    /**
     * Lets one tab draw; the others find its result. Returns whether this tab drew.
     * @param {() => Waiting | number[]} draw
     */
    seal: (draw, part = REPORT) =>
      lock(async () => {
        if (await read(part)) return false;
        await write(part, draw());
        return true;
      }),
    /** An attempt to send the report has failed. */
    keep: async () => {
      if (!memory[REPORT].over) await (storing = storeNow?.());
    },
    release: () =>
      lock(async () => {
        const { held, ...envelope } = await read(REPORT);
        if (held) await write(REPORT, envelope);
      }),
    /** The report may have arrived, so it also ends with a mark. */
    forget: () =>
      lock(async () => {
        await storing; // otherwise it would be stored after it was erased
        await write(BLOCKS, undefined);
        const envelope = await read(REPORT);
        if (envelope && !envelope.over) await end({ over: "left" });
      }),
    stay: () => (isLasting() ? "lasting" : "memory"),
    isAtRisk: () => !isLasting() && memory[REPORT] && !memory[REPORT].over,
  };
}
