/**
 * A survey of many pages: how far the visit is, about how many minutes are left, and a page for
 * checking in sections, which are folded.
 */
import { additions } from "../visit/additions.js";
import { copyAll, make } from "../visit/elements.js";
import { pageData } from "../visit/screen.js";
import { listSections } from "../visit/sections.js";
import { say } from "../visit/words.js";

const MOST_UNTITLED = 10; // questions in a section

additions.showWay = (above, open, page, place, most, quote) => {
  const until = open.findIndex(({ name }) => name === page.name) + 1;
  const [section] = listSections(open.slice(0, until), quote).slice(-1);
  // Rows have it as their title.
  if (section && page.number && page.type !== "grid") above.prepend(section, " · ");
  const minutes = Math.ceil((Number(pageData.minutes) * (most - place + 1)) / most);
  const done = make("span");
  done.style.inlineSize = `${(100 * (place - 1)) / most}%`;
  above.append(" · ", say("minutes", { minutes }), make("span", { class: "way" }, done));
};

additions.fold = (open, rows, visit, quote, end) => {
  const asked = open.filter(({ number }) => number);
  const sections = listSections(open, quote);
  /** @type {number[][]} The places of the questions in each section. */
  const folded = [];
  asked.forEach((_, i) => {
    const last = folded[folded.length - 1] ?? [];
    const isFull = !sections[i] && last.length === MOST_UNTITLED;
    if (!last.length || isFull || sections[i] !== sections[last[0]]) folded.push([i]);
    else last.push(i);
  });
  // A person who has changed an answer finds it again.
  const isChange = visit.trail.lastIndexOf(undefined) > 0;
  const details = folded.map((places) => {
    const [first, last] = [places[0], places[places.length - 1]].map((i) => asked[i].number);
    const title = sections[places[0]] ?? say("section", { first, last });
    const list = make("dl", { class: "checks" }, ...places.map((i) => rows[i]));
    // A closed section hides no warning.
    const warnings = new Map(
      copyAll(".but, .light, .hardly", list).map((one) => [one.textContent, one]),
    );
    // The second code of a scale is not a further answer.
    const count = places.filter((i) => !asked[i].score?.of).length;
    const summary = make("summary", {}, title, ` (${count})`, ...warnings.values());
    const one = make("details", {}, summary, list);
    one.open = isChange && places.some((i) => asked[i].name === visit.trail[1]);
    return one;
  });
  // Also before the answers, because these can take many screens.
  const buttons = end.filter(({ tagName }) => tagName === "BUTTON");
  return make("div", { class: "folded" }, ...buttons, ...details);
};
