// Removes what this browser keeps of an account or a survey when a form says so, and what is old.

import { forget, sweep } from "./editor/kept.js";

sweep();
addEventListener("submit", ({ target }) => {
  const owner = target instanceof HTMLFormElement && target.dataset.forget;
  if (owner) forget(owner);
});
