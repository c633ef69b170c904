/**
 * Kills a process at one of its file writes: watches a folder of the engine without a pause, and sends SIGKILL as soon as
 * it changes in the wanted way. Arguments: pid, folder of a table, what to wait for, microseconds to wait then.
 * Tells its parent when it watches, and ends once it has killed, or when the parent goes.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { keepBusy } from "../../support/pace.ts";

const [pid = "", folder = "", aim = "", delayUs = "0"] = process.argv.slice(2);
const logs = join(folder, "deduplication_logs");

const names = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

/** Bytes of the deduplication log, which grows before the part is there. */
const logged = (): number => {
  let bytes = 0;
  for (const name of names(logs)) bytes += statSync(join(logs, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
};

const known = new Set(names(folder));
const loggedBefore = logged();
const hasNew = (prefix: RegExp): boolean =>
  names(folder).some((name) => prefix.test(name) && !known.has(name));

/** A part's folder has a name of its own while it is written, for a moment only: its line in the log comes after it. */
const LOOKS: Readonly<Record<string, () => boolean>> = {
  writing: () => hasNew(/^tmp_insert/) || logged() > loggedBefore,
  log: () => logged() > loggedBefore,
  part: () => hasNew(/^\d+_\d+_\d+/),
};

const happened = LOOKS[aim];
if (happened === undefined) throw new Error(`nothing to wait for: ${aim}`);
process.send?.("watching");
process.on("disconnect", () => process.exit(0));

/** Some milliseconds: then it hears whether its parent has gone. */
const LOOKS_A_TURN = 200;

function watch(happens: () => boolean): void {
  for (let looks = 0; looks < LOOKS_A_TURN; looks++) {
    if (!happens()) continue;
    keepBusy(Number(delayUs) / 1000);
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It is gone already.
    }
    process.exit(0);
  }
  setImmediate(watch, happens);
}
watch(happened);
