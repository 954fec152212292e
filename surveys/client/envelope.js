/**
 * Draws the code once, and keeps it sealed until the server has acknowledged it. Then only
 * a mark without the code remains. Answers are never kept.
 */
import { toBase64url } from "./manifest.js";
import { cryptoUint32, randomizeReport } from "./randomize.js";
import { findLatents, walk } from "./rules.js";

const STORE = "envelopes";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * @param {string} manifest  its hash @param {Question[]} questions
 * @param {Question[]} pages @param {Answers} answers
 */
export function drawEnvelope(manifest, questions, pages, answers) {
  const id = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const { open, codes } = walk(pages, answers);
  const names = open.map(({ name }) => name);
  const latents = questions.flatMap((one) => findLatents(one, codes, names.includes(one.name)));
  const channels = questions.flatMap((one) => one.channels);
  const drawn = randomizeReport(latents, channels, cryptoUint32);
  const symbols = drawn.map((code) => (code === null ? "~" : ALPHABET[code])).join("");
  return { manifest, id, symbols };
}

/**
 * Without storage or locks it is only this page's memory that keeps.
 * @param {string} hash  the manifest's
 * @returns {Promise<Keeper>}
 */
export async function openKeeper(hash) {
  /** @type {Record<string, any>} */
  const kept = {};
  let database = navigator.locks && (await openDatabase().catch(() => undefined));

  const read = async (part = "") => {
    try {
      const reading = database?.transaction(STORE).objectStore(STORE).get(hash + part);
      if (reading) kept[part] = await settled(reading);
    } catch {
      database = undefined; // taken away
    }
    return kept[part];
  };

  /** @param {any} value */
  const write = async (value, part = "") => {
    kept[part] = value;
    try {
      if (database) await put(database, hash + part, value);
    } catch {
      database = undefined; // a full disk: go on from memory
    }
  };

  /** Of many tabs one draws, and the others find what it has kept. @param {() => any} draw */
  const seal = async (draw, part = "") => {
    const sealAlone = async () => {
      if (await read(part)) return false;
      await write(draw(), part);
      return true;
    };
    return database ? navigator.locks.request(`murmur ${hash}`, sealAlone) : sealAlone();
  };

  const isLasting = () => database !== undefined;
  const isAtRisk = () => !database && kept[""] && !kept[""].over;
  return { read, write, seal, isLasting, isAtRisk };
}

/** @returns {Promise<IDBDatabase | undefined>} */
async function openDatabase() {
  const opening = indexedDB.open("murmur", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  return settled(opening);
}

/** @param {IDBRequest} request @returns {Promise<any>} */
function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Done when the disk has it: the first try to send waits for this.
 * @param {IDBDatabase} database @param {string} key @param {any} value
 */
function put(database, key, value) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    transaction.objectStore(STORE).put(value, key);
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}
