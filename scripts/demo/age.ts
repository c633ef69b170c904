/** Makes a demo as old as its records: what spent for thirty days is not an hour old, and forecasts go by that. */
import { AccountTables } from "../../src/account/tables.ts";
import { DAY_MS } from "../../src/base/time.ts";
import { openStore } from "../../src/store/store.ts";

const DAYS = 31;

/** The gateway of the folder must be stopped. Keys keep their age, by which they are listed. */
export async function makeOlder(dataDir: string, orgId: string, nowMs: number): Promise<void> {
  const store = openStore(dataDir);
  try {
    const accounts = new AccountTables(store);
    const createdAtMs = nowMs - DAYS * DAY_MS;
    await accounts.act(() => {
      accounts.replaceOrg({ ...accounts.mustOrg(orgId), createdAtMs });
      for (const project of accounts.projectsOf(orgId)) accounts.replaceProject({ ...project, createdAtMs });
    });
  } finally {
    await store.close();
  }
}
