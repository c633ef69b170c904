/**
 * A process that commits numbered rows without end and says so, for tests that take something away from it. Run: `node
 * test/crash/store/writer.ts <folder> [bytes of a row]`. Lines: `done <n>` once row n is committed, `also <n>` once an act that is not
 * owed has put it in another table, `healthy`, `unhealthy <message>`; `stopped` behind a clean stop, which SIGTERM asks for.
 */
import { openStore } from "../../../src/store/store.ts";
import { again, rest } from "../../support/pace.ts";
import { say } from "../../support/say.ts";

const [folder = "", bytes = "100"] = process.argv.slice(2);
let message = "";
const store = openStore(folder, {
  onFailure: (error) => {
    message = error instanceof Error ? error.message : String(error);
  },
});
const rows = store.table<string>("rows");
const also = store.table<number>("others");
let stopping = false;
process.on("SIGTERM", () => {
  stopping = true;
});

let wasHealthy: boolean | undefined;
const endWatch = again(() => {
  if (store.healthy() === wasHealthy) return;
  wasHealthy = store.healthy();
  say(wasHealthy ? "healthy" : `unhealthy ${message}`);
}, 5);

/** Owed: tried until they are there. */
async function commits(): Promise<void> {
  for (let n = 0; !stopping; n++) {
    await store.act(() => rows.put(n, "x".repeat(Number(bytes))), { isOwed: true });
    say(`done ${n}`);
    await rest(2);
  }
}

/** One that is refused is told to its caller, who tries again. */
async function others(): Promise<void> {
  for (let n = 0; !stopping; ) {
    try {
      await store.act(() => also.put(n, n));
      say(`also ${n++}`);
    } catch {
      // Told by `unhealthy`.
    }
    await rest(20);
  }
}

await Promise.all([commits(), others()]);
endWatch();
await store.close();
say("stopped");
