/**
 * Draws the code once, and keeps it sealed until the server has acknowledged it. Then only
 * a mark without the code remains. Answers are never kept.
 */
import { toBase64url } from "./manifest.js";
import { cryptoUint32, randomizeReport } from "./randomize.js";

const STORE = "envelopes";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** @param {string} hash @param {number[]} codes  the answers @param {Question[]} questions */
export function drawEnvelope(hash, codes, questions) {
  const id = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const drawn = randomizeReport(codes, questions, cryptoUint32);
  return { manifest: hash, id, symbols: drawn.map((symbol) => ALPHABET[symbol]).join("") };
}

/**
 * Opens the place for one survey. Without storage or locks it is only this page's memory.
 * @param {string} hash  the manifest's
 * @returns {Promise<Keeper>}
 */
export async function openKeeper(hash) {
  /** @type {Kept | undefined} */
  let kept;
  let database = navigator.locks && (await openDatabase().catch(() => undefined));

  const read = async () => {
    try {
      if (database) kept = await settled(database.transaction(STORE).objectStore(STORE).get(hash));
    } catch {
      database = undefined; // taken away, as when a person clears the browser's data
    }
    return kept;
  };

  /** @param {Kept} value */
  const write = async (value) => {
    kept = value;
    try {
      if (database) await put(database, hash, value);
    } catch {
      database = undefined; // a full disk: go on from memory, with the same envelope
    }
  };

  /** @param {() => Envelope} draw */
  const sealAlone = async (draw) => {
    if (await read()) return false;
    await write(draw());
    return true;
  };

  return {
    read,
    write,
    // Of many tabs one draws, and the others find what it has kept.
    seal: async (draw) =>
      database
        ? navigator.locks.request(`murmur ${hash}`, () => sealAlone(draw))
        : sealAlone(draw),
    isLasting: () => database !== undefined,
    isAtRisk: () => !database && kept !== undefined && !("over" in kept),
  };
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
 * Done when the disk has it, not before: the first try to send waits for this.
 * @param {IDBDatabase} database @param {string} hash @param {Kept} value
 */
function put(database, hash, value) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    transaction.objectStore(STORE).put(value, hash);
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}
