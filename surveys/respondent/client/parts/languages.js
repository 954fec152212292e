/** Changes the language during a visit, in the same page, so that the answers stay. */
import { additions } from "../visit/additions.js";
import { label, main, opening, pageData } from "../visit/screen.js";
import { template } from "../visit/words.js";

/** @param {BeforeUnloadEvent} event */
const ask = (event) => (event.returnValue = true);

additions.offerLanguages = (visit, restart) =>
  addEventListener("click", (event) => {
    const link = /** @type {any} */ (event.target).closest(".languages a");
    if (!link || !Object.keys(visit.answers).length) return;
    event.preventDefault();
    const request = new XMLHttpRequest(); // the only parser that the policy allows
    request.open("GET", link.href);
    request.responseType = "document";
    request.onloadend = () => {
      // The person has left, or has gone on in this language.
      if (visit.phase === "left" || visit.trail.length) return;
      /** @type {any} The page in that language, if it could be loaded. */
      const other = request.response;
      const data = other?.getElementById("survey")?.dataset;
      if (data?.hash !== pageData.hash) {
        addEventListener("beforeunload", ask, { once: true });
        return location.replace(link.href);
      }
      const { lang, dir } = other.documentElement;
      // The same survey has the same elements.
      /**
       * @param {Element | DocumentFragment | null | undefined} old
       * @param {ParentNode} fresh
       */
      const replace = (old, fresh) => old?.replaceChildren(...fresh.childNodes);
      const fresh = other.getElementById("label");
      replace(label, fresh);
      fresh.replaceWith(label);
      for (const css of ["#survey", "#exit", "footer"]) {
        replace(document.querySelector(css), other.querySelector(css));
      }
      replace(template, other.querySelector("template").content);
      Object.assign(document.documentElement, { lang, dir });
      Object.assign(pageData, data);
      additions.showMoments?.();
      opening.nodes = [...main.childNodes];
      visit.trail = [];
      restart();
    };
    request.send();
  });
