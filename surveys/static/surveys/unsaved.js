// Asks before a form with typed text is left, reloaded or closed without saving. Without scripts,
// nothing is asked. Also keeps htmx from showing costs of what has been changed since.

const form = document.querySelector("form[data-unsaved]");

if (form instanceof HTMLFormElement) {
  let isChanged = form.dataset.unsaved === "typed";
  form.addEventListener("input", () => {
    isChanged = true;
  });
  const forget = () => {
    isChanged = false;
  };
  form.addEventListener("submit", forget);
  // htmx sends one request at a time. Aborting one instead would log an error.
  let isOutdated = false;
  form.addEventListener("input", () => {
    isOutdated = true;
  });
  form.addEventListener("htmx:beforeSend", () => {
    isOutdated = false;
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (isOutdated) event.preventDefault();
  });
  form.querySelector("[data-discard]")?.addEventListener("click", forget);
  addEventListener("beforeunload", (event) => {
    if (isChanged) event.returnValue = true; // older browsers ask only then
  });
}
