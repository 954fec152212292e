// Shows, on the page of an opened survey, typed text that was not saved before the survey opened.

import { forget, listDrafts } from "./kept.js";

const place = document.getElementById("leftover");
const owner = place?.dataset.owner ?? "";
const drafts = listDrafts(owner);
const texts = drafts.map(({ fields }) => {
  const typed = new URLSearchParams(fields);
  return ["text", "follow_up", "options"].flatMap((name) => typed.get(name) || []).join("\n");
});

if (place && texts.length) {
  place.querySelector("ul")?.replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    item.className = "pre-line";
    item.dir = "auto";
    item.textContent = text;
    return item;
  }));
  place.hidden = false;
  place.querySelector("button")?.addEventListener("click", () => {
    forget(owner);
    place.hidden = true;
  });
}
