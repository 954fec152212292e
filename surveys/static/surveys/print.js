// Opens the browser's print dialogue. Without scripts, the button stays hidden; people can print
// from the menu.

const button = document.querySelector("[data-print]");

if (button instanceof HTMLButtonElement) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
