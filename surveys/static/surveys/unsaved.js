// Asks before a form with unsaved text is left, reloaded or closed. Without scripts, nothing is
// asked.

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
  form.querySelector("[data-discard]")?.addEventListener("click", forget);
  addEventListener("beforeunload", (event) => {
    if (isChanged) event.returnValue = true; // older browsers need this to ask
  });
}
