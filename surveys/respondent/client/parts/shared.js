/**
 * A device that several people share: a report is stored only if it cannot be sent at once. At the
 * end, the page makes room for the next one.
 */
import { REPORT } from "../report/keeper.js";
import { put } from "../report/storage.js";
import { additions } from "../visit/additions.js";
import { make, makeButton } from "../visit/elements.js";
import { leave } from "../visit/leaving.js";
import { pageData } from "../visit/screen.js";
import { say } from "../visit/words.js";

additions.storeLate = async ({ memory, read, exchange }) => {
  const isWaiting = await read(REPORT); // of a visit that was closed
  const database = isWaiting ? undefined : exchange();
  return async () => {
    try {
      if (!database) return;
      // This fails if another tab has stored its report; this tab then continues in memory.
      await put(database, pageData.hash, memory[REPORT], "add");
      exchange(database);
    } catch {
      // continue in memory
    }
  };
};

additions.makeRoom = (visit) => [
  make("p", { class: "closing" }, say("room")),
  makeButton(say("next"), () => void leave(visit, location.pathname)),
];
