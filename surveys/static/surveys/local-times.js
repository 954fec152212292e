// Shows the author's local time below each moment, which is typed in UTC. Without scripts, the page
// shows UTC only.

const write = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short" });
const { timeZone } = write.resolvedOptions();

for (const input of document.querySelectorAll('input[type="datetime-local"]')) {
  if (!(input instanceof HTMLInputElement)) continue;
  const local = document.createElement("p");
  local.className = "hint";
  local.id = `${input.id}_local`;
  const described = input.getAttribute("aria-describedby") ?? "";
  input.setAttribute("aria-describedby", `${described} ${local.id}`.trim());
  const show = () => {
    const moment = new Date(`${input.value}Z`);
    local.textContent = Number.isNaN(moment.getTime())
      ? ""
      : `In your time zone (${timeZone}): ${write.format(moment)}`;
  };
  input.addEventListener("input", show);
  input.after(local);
  show();
}
