// Removes an account's or a survey's drafts from this browser when a form says so, and old drafts.

import { forget, sweep } from "./editor/kept.js";

sweep();
addEventListener("submit", ({ target }) => {
  const owner = target instanceof HTMLFormElement && target.dataset.forget;
  if (owner) forget(owner);
});
