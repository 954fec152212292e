// Copies a link or a token to the clipboard. The button stays hidden if copying cannot work.

for (const button of document.querySelectorAll("[data-copy]")) {
  const status = button.parentElement?.querySelector("[data-copy-status]");
  if (!(button instanceof HTMLButtonElement) || !status || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy ?? "");
      status.textContent = "Copied.";
    } catch {
      status.textContent = "Your browser refused to copy. Select the text and copy it yourself.";
    }
  });
}
