/** Shows moments in the device's own time zone. The server writes UTC. */
import { additions } from "../visit/additions.js";
import { template } from "../visit/words.js";

const showMoments = () => {
  const { lang } = document.documentElement;
  // The server writes English days before months.
  const form = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, {
    dateStyle: "long",
    timeStyle: "short",
    numberingSystem: "latn", // as in the rest of the page
  });
  for (
    const one of [document, template].flatMap((root) => [...(root?.querySelectorAll("time") ?? [])])
  ) {
    one.textContent = form.format(new Date(one.dateTime));
  }
};
showMoments();
additions.showMoments = showMoments;
