/** Finds the page that a person sees next, and the progress: its place among how many. */

/** @import { additions } from "./additions.js" */

/** @type {NonNullable<typeof additions.locate>} */
export const locate = (pages, open, { answers, trail }) => {
  const screen = open.find(({ name }) => name === trail[0] || answers[name] === undefined);
  trail[0] = screen?.name;
  const place = open.findIndex((page) => page === screen) + 1;
  const later = pages.slice(pages.findIndex((page) => page === screen) + 1);
  return [screen, place, place + later.filter((page) => page.isDrawn).length, open.length];
};
