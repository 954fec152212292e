/**
 * Stores the data of one survey in the browser, for all its tabs. If there is no storage, or it
 * fails, the data stay in this page's memory.
 *
 * @typedef {Awaited<ReturnType<typeof openStorage>>} Storage
 */
import { within } from "./timing.js";

const STORE = "envelopes";

/** @param {string} survey The hash of its manifest. */
export async function openStorage(survey) {
  /** @type {Record<string, any>} */
  const memory = {};
  /** @type {IDBDatabase | undefined} */
  let database = navigator.locks && (await within(5, openDatabase()).catch(() => undefined));

  return {
    memory,
    isLasting: () => !!database,
    /** @param {string} part */
    read: async (part) => {
      try {
        const reading = database?.transaction(STORE).objectStore(STORE).get(survey + part);
        // If another tab erased it, this page still remembers it.
        if (reading) memory[part] = (await settled(reading)) ?? memory[part];
      } catch {
        database = undefined;
      }
      return memory[part];
    },
    /**
     * @param {string} part
     * @param {unknown} value
     * @param {boolean} [isStored] Otherwise only this page remembers it, and nothing stays stored.
     */
    write: async (part, value, isStored = true) => {
      memory[part] = value;
      try {
        if (database) await put(database, survey + part, isStored ? value : undefined);
      } catch {
        database = undefined; // continue in memory
      }
    },
    /**
     * From now on, stores in another database, or nowhere. Returns the previous one.
     * @param {IDBDatabase} [other]
     */
    exchange: (other) => {
      const last = database;
      database = other;
      return last;
    },
    /**
     * Runs `act` while no other tab does.
     * @template T
     * @param {() => Promise<T>} act
     * @returns {Promise<T>}
     */
    lock: async (act) => {
      try {
        if (database) return await navigator.locks.request(`murmur ${survey}`, act);
      } catch {
        // continue without a lock
      }
      return act();
    },
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
    request.onerror = reject;
  });
}

/**
 * Writes a value, or deletes it if it is undefined.
 * @param {IDBDatabase} database
 * @param {string} key
 * @param {unknown} value
 * @param {"add" | "put"} method "add" fails if there is a value already.
 */
export function put(database, key, value, method = "put") {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    if (value === undefined) store.delete(key);
    else store[method](value, key);
    transaction.oncomplete = resolve;
    transaction.onabort = reject;
  });
}
