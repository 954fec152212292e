/**
 * Keeps the report until it is acknowledged; then only a mark remains. Answers are never kept.
 * The report is drawn once, even if the survey is open in several tabs.
 */
import { within } from "./timing.js";

/**
 * @import { Envelope } from "./envelope.js"
 *
 * @typedef {Envelope & { held?: boolean, over?: undefined }} Waiting Held until the person sends it.
 * @typedef {{ over: string, held?: undefined }} Mark How it ended.
 * @typedef {Waiting | Mark} Kept
 * @typedef {Awaited<ReturnType<typeof openKeeper>>} Keeper
 */

const STORE = "envelopes";
const BLOCKS = " blocks"; // under the name of the survey with this ending

/**
 * Without storage, only this page's memory keeps.
 * @param {string} survey The hash of its manifest.
 */
export async function openKeeper(survey) {
  /** @type {Record<string, any>} */
  const kept = {};
  /** @type {IDBDatabase | undefined} */
  let database = navigator.locks && (await within(5, openDatabase()).catch(() => undefined));

  const readPart = async (part = "") => {
    try {
      const reading = database?.transaction(STORE).objectStore(STORE).get(survey + part);
      // What another tab erased is still known here.
      if (reading) kept[part] = (await settled(reading)) ?? kept[part];
    } catch {
      database = undefined;
    }
    return kept[part];
  };
  /** @param {unknown} value */
  const writePart = async (value, part = "") => {
    kept[part] = value;
    try {
      if (database) await put(database, survey + part, value);
    } catch {
      database = undefined; // go on from memory
    }
  };
  /**
   * @template T
   * @param {() => Promise<T>} act
   * @returns {Promise<T>}
   */
  const lock = async (act) => {
    try {
      if (database) return await navigator.locks.request(`murmur ${survey}`, act);
    } catch {
      // go on alone
    }
    return act();
  };
  /** @param {() => unknown} draw */
  const sealPart = (draw, part = "") =>
    lock(async () => {
      if (await readPart(part)) return false;
      await writePart(draw(), part);
      return true;
    });

  return {
    /** @returns {Promise<Kept | undefined>} */
    read: () => readPart(),
    /** @param {Kept} value */
    write: (value) => writePart(value),
    /**
     * One tab draws; the others find what it drew. Returns whether this tab drew.
     * @param {() => Waiting} draw
     */
    seal: (draw) => sealPart(draw),
    /** @returns {Promise<number[]>} */
    readBlocks: () => readPart(BLOCKS),
    /** @param {() => number[]} draw */
    sealBlocks: (draw) => sealPart(draw, BLOCKS),
    release: () =>
      lock(async () => {
        const { held, ...envelope } = await readPart();
        if (held) await writePart(envelope);
      }),
    /** A report may have arrived, so the mark says that there was one. */
    forget: () =>
      lock(async () => {
        await writePart(undefined, BLOCKS);
        const envelope = await readPart();
        if (envelope && !envelope.over) await writePart({ over: "left" });
      }),
    stay: () => (database ? "lasting" : "memory"),
    isAtRisk: () => !database && kept[""] && !kept[""].over,
  };
}

async function openDatabase() {
  const request = indexedDB.open("murmur", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return await settled(request);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Writes a value, or deletes it if it is undefined.
 * @param {IDBDatabase} database
 * @param {string} key
 * @param {unknown} value
 */
function put(database, key, value) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    if (value === undefined) store.delete(key);
    else store.put(value, key);
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}
