/**
 * Keeps the report until it is acknowledged, and then only a mark, or nothing where several people
 * share a device. Answers are never kept. The report is drawn once, even if the survey is open in
 * several tabs.
 */
import { openStorage } from "./storage.js";

/**
 * @import { Envelope } from "./envelope.js"
 *
 * @typedef {Envelope & { held?: boolean, over?: undefined }} Waiting A report. If `held`, it
 *   waits until the person sends it.
 * @typedef {{ over: string, held?: undefined }} Mark How the visit ended.
 * @typedef {Waiting | Mark} Kept
 * @typedef {Awaited<ReturnType<typeof openKeeper>>} Keeper
 */

// Keys are the hash of the survey followed by one of these.
const REPORT = "";
export const BLOCKS = " blocks";

/**
 * @param {string} survey The hash of its manifest.
 * @param {boolean} isShared Whether several people share a device.
 */
export async function openKeeper(survey, isShared) {
  const { memory, isLasting, read, write, lock } = await openStorage(survey);

  /** @param {Mark} mark This page remembers it, so it draws and sends nothing twice. */
  const end = async (mark) => {
    await write(BLOCKS, undefined);
    await write(REPORT, mark, !isShared);
  };

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
    release: () =>
      lock(async () => {
        const { held, ...envelope } = await read(REPORT);
        if (held) await write(REPORT, envelope);
      }),
    /** The report may have arrived, so it ends with a mark too. */
    forget: () =>
      lock(async () => {
        await write(BLOCKS, undefined);
        const envelope = await read(REPORT);
        if (envelope && !envelope.over) await end({ over: "left" });
      }),
    stay: () => (isLasting() ? "lasting" : "memory"),
    isAtRisk: () => !isLasting() && memory[REPORT] && !memory[REPORT].over,
  };
}
