/** `weir cells init`: makes the dataset of an installation from `DATA_DIR`, which becomes its first cell's. */

import type { KeyObject } from "node:crypto";
import { type FirstStart, firstStart } from "../../../account/first-start.ts";
import { AccountTables } from "../../../account/tables.ts";
import { systemClock } from "../../../base/clock.ts";
import { MONEY_TABLES } from "../../../credits/ledger/audit.ts";
import { openCredits } from "../../../credits/ledger/credits.ts";
import { grantFirst } from "../../../credits/ledger/first-grant.ts";
import { readMasterKeys } from "../../../store/installation/master-key.ts";
import { tableNames } from "../../../store/recovery/inspection.ts";
import { openStore, type Store } from "../../../store/store.ts";
import { LaterRelease, withPath } from "../../../store/tables/later-release.ts";
import { keyText } from "../../../store/tables/table.ts";
import { datasetIn } from "../dataset/dataset.ts";
import { membershipOf } from "../membership/membership.ts";
import { connectRedis, type RedisLog } from "../redis/redis.ts";
import { assertReplicas, assertSettings } from "../redis/trust.ts";
import { isSharedTable, unknownTable } from "../replica/table-classes.ts";
import { uploadFolder } from "../replica/upload.ts";
import { COUNT_PARTS } from "./counts.ts";
import { KEPT_PARTS } from "./kept.ts";
import { MONEY_PARTS } from "./money.ts";
import type { DatasetPart } from "./part.ts";

export interface InitOptions {
  readonly redisUrl: string;
  /** Removes what another folder's `init` left unfinished in this Redis. */
  readonly discards?: boolean;
  /**
   * Nothing is done where this Redis holds an installation, of whatever folder. The folder is not even opened: a cell may run on it in another
   * container, whose processes cannot be seen from here.
   */
  readonly once?: boolean;
  readonly log: RedisLog;
}

export interface Initialised {
  /** The first start of a new installation: `DATA_DIR` was empty. */
  readonly first: FirstStart | undefined;
  /** Undefined: this folder's installation was in this Redis already; with `once`, any folder's. */
  readonly rows: number | undefined;
}

/** What of the configuration it needs; names are those of `weir.yaml`. */
export interface InitConfig {
  readonly dataDir: string;
  /** Replicas of that Redis that must have a write before it counts. */
  readonly redisReplicas: number;
  /** Undefined: the key is in the folder. */
  readonly secretsKey: KeyObject | undefined;
  readonly settings: { readonly default_plan: string; readonly grant_usd: number };
}

const CONNECT_MS = 10_000;
/** The store's own tables. */
const STORES_OWN: readonly string[] = ["journal", "log_trims", "process"];

const documents: DatasetPart = {
  *rows({ store, tables }) {
    for (const table of tables.filter(isSharedTable)) {
      for (const { key, value } of store.bytes(table).range())
        yield { table, text: keyText(key), bytes: value };
    }
  },
};

/** A room whose rows are the installation's, and are not rows of shared tables, adds a part. */
const DATASET_PARTS: readonly DatasetPart[] = [documents, ...MONEY_PARTS, ...KEPT_PARTS, ...COUNT_PARTS];

/** @throws Error with a line for the operator; a second run goes on with what the first one left */
export async function initDataset(config: InitConfig, options: InitOptions): Promise<Initialised> {
  const { redisUrl, discards = false, once = false, log } = options;
  const { dataDir, redisReplicas } = config;
  const link = connectRedis({ url: redisUrl, log });
  try {
    await link.ready(CONNECT_MS);
    await assertSettings(link);
    await assertReplicas(link, redisReplicas);
    if (once && (await datasetIn(link))?.isFinished === true) return { first: undefined, rows: undefined };
    const first = await withStore(dataDir, (store) => seeded(config, store));
    assertOneKey(config);
    // The store is closed here: all its rows are in its file.
    const tables = tableNames(dataDir).filter((name) => !STORES_OWN.includes(name));
    const unknown = unknownTable(tables);
    if (unknown !== undefined) throw new LaterRelease(`table ${unknown}`);
    const rows = await withStore(dataDir, async (store) => {
      const folder = { store, clock: systemClock, tables };
      const content = {
        rows: flat(DATASET_PARTS.map((part) => part.rows?.(folder) ?? [])),
        steps: flat(DATASET_PARTS.map((part) => part.steps?.(folder) ?? [])),
      };
      return await uploadFolder({ link, local: store, content, discards });
    });
    // Before it is said to be done: a replica that takes over has it whole.
    await assertReplicas(link, redisReplicas);
    return { first, rows };
  } catch (error) {
    throw withPath(dataDir, error);
  } finally {
    link.close();
  }
}

/** The master key of the folder as `WEIR_SECRETS_KEY` has it; made where there is none. Call while no gateway has the folder. */
export function secretsKeyText({ dataDir, secretsKey }: Pick<InitConfig, "dataDir" | "secretsKey">): string {
  const [key] = readMasterKeys({ dataDir, masterKey: secretsKey });
  return key.export().toString("base64");
}

/** What a first start makes. @returns undefined where the folder holds an org */
async function seeded({ dataDir, settings }: InitConfig, store: Store): Promise<FirstStart | undefined> {
  if (membershipOf(store) !== undefined) return undefined;
  const { book } = openCredits({ store, clock: systemClock });
  return await firstStart({
    accounts: new AccountTables(store),
    clock: systemClock,
    dataDir,
    planId: settings.default_plan,
    also: ({ orgId }) => grantFirst(book, orgId, settings.grant_usd),
  });
}

/** Other cells have no file beside the key of the environment. @throws Error where the folder has secrets under another one */
function assertOneKey({ dataDir, secretsKey }: Pick<InitConfig, "dataDir" | "secretsKey">): void {
  const keys = readMasterKeys({ dataDir, masterKey: secretsKey });
  const [used] = keys;
  if (keys.every((key) => key.equals(used))) return;
  throw new Error(
    `WEIR_SECRETS_KEY: ${dataDir}/secrets.key holds another key, which other cells would lack: set WEIR_SECRETS_KEY to what that file holds`,
  );
}

async function withStore<T>(dataDir: string, act: (store: Store) => Promise<T>): Promise<T> {
  const store = openStore(dataDir, { checkFirst: MONEY_TABLES });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

function* flat<T>(lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}
