/** Makes a demo as old as its records: what spent for thirty days is not an hour old, and forecasts go by that. */
import { AccountTables } from "../../src/account/tables.ts";
import { DAY_MS } from "../../src/base/time.ts";
import { openStore } from "../../src/store/store.ts";

export const AGE_MS = 31 * DAY_MS;

/** The gateway of the folder must be stopped. Keys are listed in the same order as before. */
export async function makeOlder(dataDir: string, orgId: string, nowMs: number): Promise<void> {
  const store = openStore(dataDir);
  try {
    const accounts = new AccountTables(store);
    // The index by which keys are listed. A gateway never changes when a key was made, so the tables have no method for it.
    const byAge = store.table<true>("account.keys_by_age");
    const createdAtMs = nowMs - AGE_MS;
    await accounts.act(() => {
      accounts.replaceOrg({ ...accounts.mustOrg(orgId), createdAtMs });
      for (const project of accounts.projectsOf(orgId)) accounts.replaceProject({ ...project, createdAtMs });
      for (const member of accounts.people.membersOf(orgId))
        if (member.invitation === undefined) accounts.people.putMember({ ...member, addedAtMs: createdAtMs });
      for (const key of [...accounts.keysByAge(orgId)]) {
        const madeMs = key.createdAtMs - AGE_MS;
        byAge.remove([orgId, key.createdAtMs, key.id]);
        byAge.put([orgId, madeMs, key.id], true);
        accounts.replaceKey({ ...key, createdAtMs: madeMs });
      }
    });
  } finally {
    await store.close();
  }
}
