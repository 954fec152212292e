/**
 * Text that an author typed and the server has not saved yet, kept in this browser for each
 * account, survey, tab and question. It is removed once saved, at sign-out, with the survey
 * and after a week.
 *
 * @typedef {object} Draft
 * @property {string} id The key of a question, or "new-" and a number drawn for it.
 * @property {string} url Where to save it.
 * @property {string} fields The form as typed, without its stamp.
 * @property {string} stamp The stamp of the version that was changed.
 * @property {string} sent The form that was sent last, until the reply comes.
 * @property {number} at When it was typed, in milliseconds.
 */

const PREFIX = "murmur-draft";
const LONGEST = 7 * 24 * 60 * 60 * 1000;
const FORGETTING = "murmur-forget";

/** @returns {string[]} The keys of all kept drafts that begin with `owner`. */
const list = (owner = "") => {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}/${owner}`));
  } catch {
    return []; // no storage
  }
};

/** @param {string} key @returns {Draft | undefined} */
const read = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "");
  } catch {
    localStorage.removeItem(key);
    return undefined;
  }
};

/** Removes the drafts of an account or of a survey: "7/" or "7/abc/". @param {string} owner */
export const forget = (owner) => {
  for (const key of list(owner)) localStorage.removeItem(key);
  new BroadcastChannel(FORGETTING).postMessage(owner);
};

/** Removes drafts older than a week, whoever typed them. */
export const sweep = () => {
  for (const key of list()) {
    const at = read(key)?.at ?? 0;
    if (Math.abs(Date.now() - at) > LONGEST) localStorage.removeItem(key);
  }
};

/** @param {string} owner @returns {Draft[]} */
export const listDrafts = (owner) => list(owner).flatMap((key) => read(key) ?? []);

/** @param {string} account @param {string} survey */
export const openKept = (account, survey) => {
  const owner = `${account}/${survey}/`;
  const tab = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const name = (/** @type {string} */ key) => `${PREFIX}/${owner}${key}`;
  let isForgotten = false;
  new BroadcastChannel(FORGETTING).onmessage = ({ data }) => {
    isForgotten ||= owner.startsWith(data);
  };
  // Held until the tab is closed or crashes. Then another tab takes over its drafts.
  navigator.locks?.request(name(tab), () => new Promise(() => {}));

  return {
    isForgotten: () => isForgotten,
    /** Stores a draft, and returns whether there was room. @param {Draft} draft */
    put: (draft) => {
      try {
        if (!isForgotten) localStorage.setItem(name(`${tab}/${draft.id}`), JSON.stringify(draft));
        return true;
      } catch {
        return false;
      }
    },
    /** @param {string} id */
    remove: (id) => {
      try {
        localStorage.removeItem(name(`${tab}/${id}`));
      } catch {
        // no storage
      }
    },
    /** Takes over the drafts of closed tabs. @returns {Promise<Draft[]>} */
    adopt: async () => {
      const held = (await navigator.locks?.query())?.held ?? [];
      const open = new Set(held.map((lock) => lock.name));
      /** @type {Map<string, Draft>} */
      const found = new Map();
      for (const key of list(owner)) {
        const [, , , other] = key.split("/");
        if (open.has(name(other))) continue;
        const draft = read(key);
        localStorage.removeItem(key);
        if (draft && draft.at > (found.get(draft.id)?.at ?? 0)) found.set(draft.id, draft);
      }
      return [...found.values()];
    },
  };
};
