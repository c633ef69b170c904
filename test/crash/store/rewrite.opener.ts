/**
 * A process that opens a folder of the store, adds a row and closes it, for the crash test of the rewriting of weir.lmdb. Run: `node
 * test/crash/store/rewrite.opener.ts <folder> <row> [forget | die]`. Lines: `notice <line>`, `failure <message>`, `opened`, `added`, `closed`; with
 * `forget` it asks for the rewriting in between, so that it happens as it closes; with `die` it dies behind that instead. A refused start says `refused <message>`.
 */
import { openStore, type Store } from "../../../src/store/store.ts";
import { say } from "../../support/say.ts";

const [folder = "", row = "", what = ""] = process.argv.slice(2);

function opened(): Store {
  try {
    return openStore(folder, {
      onNotice: (line) => say(`notice ${line}`),
      onFailure: (error) => say(`failure ${error instanceof Error ? error.message : error}`),
    });
  } catch (error) {
    say(`refused ${error instanceof Error ? error.message : error}`);
    process.exit(2);
  }
}

const store = opened();
say("opened");
await store.act(() => store.table("rows").put(row, row));
say("added");
if (what !== "") await store.forgetRemoved();
if (what === "die") process.kill(process.pid, "SIGKILL");
await store.close();
say("closed");
