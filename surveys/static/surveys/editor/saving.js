/**
 * Saves typed text, one request at a time. A request whose reply was lost is sent again unchanged
 * before newer text, so that the server can recognize it.
 *
 * @import { Draft } from "./kept.js"
 * @typedef {"waiting" | "offline" | "refused" | "overtaken" | "gone"} State
 * @typedef {Draft & {state?: State, problem?: string, panel?: string, timer?: number}} Typed
 * @typedef {"saved" | State} Outcome
 */

const PAUSE = 1500; // after the last key
const AGAIN = 5000; // after a failure
const LONGEST = 30_000; // for a reply

/** @param {string} text */
export const parse = (text) => new DOMParser().parseFromString(text, "text/html");

/** @param {Document | Element} part @returns {HTMLFormElement | null} */
export const findPanel = (part) => part.querySelector("form#panel");

/**
 * @param {{
 *   kept: ReturnType<typeof import("./kept.js").openKept>,
 *   token: () => string,
 *   listOpen: () => string[],
 *   tell: (draft: Typed, outcome: Outcome, reply?: Document, isCurrent?: boolean, before?: string) => void,
 *   stop: (problem: string) => void,
 * }} page
 */
export const startSaving = ({ kept, token, listOpen, tell, stop }) => {
  /** @type {Map<string, Typed>} */
  const drafts = new Map();
  let isFull = false;
  let isStopped = false;
  /** @type {Promise<unknown>} */
  let chain = Promise.resolve();

  /** @param {Typed} draft */
  const keep = ({ id, url, fields, stamp, sent, at }) => {
    isFull = !kept.put({ id, url, fields, stamp, sent, at });
  };

  /**
   * Runs a request after all others.
   * @template T
   * @param {() => Promise<T>} act
   * @returns {Promise<T>}
   */
  const turn = (act) => {
    const result = chain.then(act);
    chain = result.catch(() => {});
    return result;
  };

  /** @param {string} url @param {URLSearchParams} [body] @param {RequestInit} [more] */
  const request = async (url, body, more = {}) => {
    body?.set("csrfmiddlewaretoken", token());
    const method = body ? "POST" : "GET";
    const signal = AbortSignal.timeout(LONGEST);
    const headers = { "X-Editor": "1" };
    const response = await fetch(url, { method, body, headers, signal, ...more });
    if (response.status >= 500 || response.status === 429) throw new Error(response.statusText);
    return response;
  };

  /** @param {Typed} draft */
  const write = (draft) => {
    const body = new URLSearchParams(draft.sent);
    body.set("stamp", draft.stamp);
    for (const fold of listOpen()) body.append("shown", fold);
    return body;
  };

  /** @param {Typed} draft @param {number} wait */
  const schedule = (draft, wait) => {
    clearTimeout(draft.timer);
    draft.timer = setTimeout(() => turn(() => send(draft)), wait);
  };

  /** @param {Typed} draft */
  const drop = (draft) => {
    clearTimeout(draft.timer);
    drafts.delete(draft.id);
    kept.remove(draft.id);
  };

  /** @param {Typed} draft */
  const send = async (draft) => {
    clearTimeout(draft.timer);
    if (isStopped || drafts.get(draft.id) !== draft) return;
    if (draft.state !== "waiting" && draft.state !== "offline") return;
    draft.sent ||= draft.fields;
    keep(draft);
    let response, text;
    try {
      response = await request(draft.url, write(draft));
      text = await response.text();
    } catch {
      draft.state = "offline";
      tell(draft, "offline");
      return schedule(draft, AGAIN);
    }
    const reply = parse(text);
    const form = findPanel(reply);
    if (form) settle(draft, form, reply, text);
    else if (response.status === 404) {
      draft.state = "gone";
      tell(draft, "gone");
    } else halt(response, reply);
  };

  /** @param {Response} response @param {Document} reply */
  const halt = (response, reply) => {
    if (isStopped) return;
    isStopped = true;
    const told = reply.querySelector("main [role=alert]") ?? reply.querySelector("main h1");
    const said = response.ok ? "This survey has been opened." : told?.textContent?.trim();
    stop(response.redirected ? "You were signed out." : said ?? "");
  };

  /** @param {Typed} draft @param {HTMLFormElement} form @param {Document} reply */
  const settle = (draft, form, reply, /** @type {string} */ text) => {
    const isCurrent = draft.sent === draft.fields;
    const outcome = /** @type {Outcome} */ (form.dataset.outcome);
    const stamp = String(new FormData(form).get("stamp"));
    const before = draft.id;
    draft.sent = "";
    draft.state = undefined;
    draft.problem = form.dataset.problem;
    if (outcome === "saved") {
      drop(draft);
      draft.id = form.dataset.pk ?? draft.id;
      draft.url = form.action;
      draft.stamp = stamp;
    } else if (isCurrent || outcome === "overtaken") {
      draft.state = outcome;
      draft.panel = text;
      keep(draft);
    }
    if (!isCurrent) put(draft, PAUSE);
    tell(draft, outcome, reply, isCurrent, before);
  };

  /** @param {Typed} draft @param {number} wait */
  const put = (draft, wait) => {
    drafts.set(draft.id, draft);
    draft.at = Date.now();
    keep(draft);
    draft.panel = undefined; // shows older text
    if (draft.state === "overtaken" || draft.state === "gone" || isStopped) return;
    if (draft.state !== "offline") draft.state = "waiting";
    schedule(draft, wait);
  };

  addEventListener("online", () => {
    for (const draft of drafts.values()) if (draft.state === "offline") schedule(draft, 0);
  });
  // The reply will be lost. The next page sends the form again, and the server recognizes it.
  addEventListener("pagehide", () => {
    for (const draft of drafts.values()) {
      if (draft.state !== "waiting" || draft.sent || isStopped) continue;
      draft.sent = draft.fields;
      keep(draft);
      request(draft.url, write(draft), { keepalive: true }).catch(() => {});
    }
  });
  addEventListener("beforeunload", (event) => {
    if (drafts.size && isFull) event.returnValue = true;
  });

  return {
    drafts,
    request,
    turn,
    halt,
    put,
    drop,
    isFull: () => isFull,
    isStopped: () => isStopped,
    PAUSE,
    /** Sends all waiting drafts, and returns once they are answered. */
    flush: () => {
      for (const draft of drafts.values()) {
        clearTimeout(draft.timer);
        if (draft.state === "waiting") turn(() => send(draft));
        else if (draft.state === "offline") schedule(draft, AGAIN);
      }
      return turn(async () => {});
    },
    /** Saves the version that the author chose. @param {Typed} draft */
    insist: (draft, /** @type {string} */ fields, /** @type {string} */ stamp) => {
      draft.state = undefined;
      draft.fields = draft.sent = fields;
      draft.stamp = stamp;
      put(draft, 0);
    },
    /** Adds the typed text as a new question. @param {Typed} draft @param {string} id */
    addAgain: (draft, id, /** @type {string} */ url) => {
      drop(draft);
      const fields = new URLSearchParams(draft.fields);
      fields.set("draft_key", id.slice(4));
      put({ id, url, fields: fields.toString(), stamp: "", sent: "", at: 0 }, 0);
    },
  };
};
