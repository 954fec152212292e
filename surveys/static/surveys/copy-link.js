// Puts the respondents' link on the clipboard. The button stays hidden where that cannot work.

const button = document.querySelector("[data-copy]");
const status = document.querySelector("[data-copy-status]");

if (button instanceof HTMLButtonElement && status && navigator.clipboard) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy ?? "");
      status.textContent = "Copied.";
    } catch {
      status.textContent = "Your browser did not allow it. Select the link and copy it yourself.";
    }
  });
}
