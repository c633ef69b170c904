/** Adds a great number of keys to the store of a demo, past the API, which would take an hour: for tests of lists at their size. */
import { newKey } from "../../src/account/key.ts";
import { DEFAULT_SCOPES } from "../../src/account/scopes.ts";
import { newSecret } from "../../src/account/secret.ts";
import { AccountTables } from "../../src/account/tables.ts";
import { NEWEST_SVC_VERSION } from "../../src/account/versions.ts";
import { DAY_MS } from "../../src/base/time.ts";
import { openStore } from "../../src/store/store.ts";

const KEYS_OF_AN_ACT = 2_000;
/** They were made over so long. */
const OVER_DAYS = 300;

export interface ManyKeys {
  readonly dataDir: string;
  readonly count: number;
  readonly orgId: string;
  /** The keys take turns. */
  readonly projectIds: readonly string[];
  /** All are older. */
  readonly untilMs: number;
}

/** The gateway of the folder must be stopped. Nobody has the secrets of these keys. */
export async function addKeys({ dataDir, count, orgId, projectIds, untilMs }: ManyKeys): Promise<void> {
  const store = openStore(dataDir);
  try {
    const accounts = new AccountTables(store);
    const fromMs = untilMs - OVER_DAYS * DAY_MS;
    const stepMs = (OVER_DAYS * DAY_MS) / Math.max(1, count);
    for (let first = 0; first < count; first += KEYS_OF_AN_ACT)
      await accounts.act(() => {
        for (let at = first; at < Math.min(count, first + KEYS_OF_AN_ACT); at++)
          accounts.addKey(
            workerKey(at, orgId, projectIds[at % projectIds.length] ?? "", fromMs + at * stepMs),
          );
      });
  } finally {
    await store.close();
  }
}

const workerKey = (at: number, orgId: string, projectId: string, madeMs: number) =>
  newKey(
    {
      orgId,
      projectId,
      name: `worker ${String(at).padStart(6, "0")}`,
      environment: "live",
      scopes: DEFAULT_SCOPES,
      limits: {},
      budget: { dailyMicroUsd: null, hard: true },
      onDisconnect: "cancel",
      svcVersion: NEWEST_SVC_VERSION,
      lifetimeMs: null,
      rotatedFrom: null,
    },
    newSecret("live"),
    Math.floor(madeMs),
  );
