// Keeps details open on a results page when htmx replaces the panel.

/** @type {string[]} */
let open = [];

document.addEventListener("htmx:beforeSwap", () => {
  open = [...document.querySelectorAll("#panel details[open]")].map(({ id }) => id);
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
});
