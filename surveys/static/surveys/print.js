// Opens the browser's print dialogue. Without scripts the button stays hidden; menus print too.

const button = document.querySelector("[data-print]");

if (button instanceof HTMLButtonElement) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
