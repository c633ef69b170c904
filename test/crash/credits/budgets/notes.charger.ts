/** The process that the crash test kills: makes the charges that are left. Run: `node test/crash/credits/budgets/notes.charger.ts <folder>` */
import { say } from "../../../support/say.ts";
import { CHARGES, openNotes } from "./notes.world.ts";

const [folder = ""] = process.argv.slice(2);
const world = openNotes(folder);
// Appends count from here on (`test/support/store/kill-at-append.mjs`).
process.kill(process.pid, "SIGUSR2");
while (world.made() < CHARGES.length) {
  await world.charge();
  say(String(world.made()));
}
await world.close();
