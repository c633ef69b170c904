/** An org of many keys in a store of its own, and how many rows of keys were read: for tests that count rows, or the time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeyRow, newKey } from "../../../src/account/key.ts";
import { keyOperations } from "../../../src/account/keys/key-operations.ts";
import { LastUsed } from "../../../src/account/keys/last-used.ts";
import { newOrg } from "../../../src/account/org.ts";
import { newProject } from "../../../src/account/project.ts";
import { FIRST_KEY_SCOPES } from "../../../src/account/scopes.ts";
import { newSecret } from "../../../src/account/secret.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { NEWEST_SVC_VERSION } from "../../../src/account/versions.ts";
import { firstIdAt } from "../../../src/base/ids.ts";
import { cursors } from "../../../src/base/operation/cursor.ts";
import type { AnyOperation, Caller } from "../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../src/base/quota.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { ManualClock } from "../credits/fixtures.ts";
import { NO_HEAD } from "../http-head.fixtures.ts";
import { ORIGIN, trailOn } from "../trail.fixtures.ts";

const START_MS = Date.UTC(2026, 2, 1);
const AN_ACT = 5000;
const PLAN = { rpm: 0, tpm: 0, concurrency: 0, keys: 10_000_000, projects: 0, autoApprove: 1 };

/** A key, or a page of keys. */
interface Shown {
  readonly id: string;
  readonly limits: object;
  readonly data: readonly { readonly id: string; readonly name: string }[];
  readonly next_cursor: string;
}

/** The store, which counts the rows of keys that are read by their ids. */
function counted(store: Store, read: () => void): Store {
  const bound = <T extends object>(target: T, name: string | symbol): unknown => {
    const value = Reflect.get(target, name);
    return typeof value === "function" ? value.bind(target) : value;
  };
  return new Proxy(store, {
    get(target, name) {
      if (name !== "table") return bound(target, name);
      return (...given: Parameters<Store["table"]>) => {
        const table = target.table(...given);
        if (given[0] !== "account.keys") return table;
        const get = (key: Parameters<typeof table.get>[0]) => {
          read();
          return table.get(key);
        };
        return new Proxy(table, { get: (rows, of) => (of === "get" ? get : bound(rows, of)) });
      };
    },
  });
}

/** @param count keys of the org beside the one that asks, made a millisecond apart, each with a name of its own */
export async function manyKeys(count: number) {
  const folder = mkdtempSync(join(tmpdir(), "weir-many-keys-"));
  const store = openStore(folder);
  const clock = new ManualClock(new Date(START_MS).toISOString());
  let read = 0;
  const accounts = new AccountTables(counted(store, () => read++));
  const trail = trailOn(store, clock);
  const given = { slug: "acme", name: "Acme", kind: "team", billingCountry: "IN", planId: "local" } as const;
  const org = newOrg(given, START_MS);
  const made = { orgId: org.id, slug: "main", name: "Main", environment: "live" } as const;
  const project = newProject(made, START_MS);
  const order = {
    orgId: org.id,
    projectId: project.id,
    environment: "live",
    scopes: FIRST_KEY_SCOPES,
    limits: {},
    budget: { dailyMicroUsd: null, hard: true },
    onDisconnect: "cancel",
    svcVersion: NEWEST_SVC_VERSION,
    lifetimeMs: null,
    rotatedFrom: null,
  } as const;
  const owner = newKey({ ...order, name: "owner" }, newSecret("live"), START_MS);
  await accounts.act(() => {
    accounts.addOrg(org);
    accounts.addProject(project);
    accounts.addKey(owner);
  });
  const model = newKey({ ...order, name: "", scopes: ["inference"] }, newSecret("live"), START_MS);
  const nameOf = (n: number): string => `service ${String(n).padStart(6, "0")}`;
  const idOf = (n: number): string => firstIdAt("key", START_MS + n).padEnd(owner.id.length, "0");
  const rowOf = (n: number): KeyRow => ({ ...model, id: idOf(n), hash: `hash ${n}`, name: nameOf(n) });
  for (let n = 0; n < count; n += AN_ACT) {
    await accounts.act(() => {
      for (let i = n; i < Math.min(count, n + AN_ACT); i++)
        accounts.addKey({ ...rowOf(i), createdAtMs: START_MS + i });
    });
  }
  clock.advance(count);
  const ops = keyOperations({
    accounts,
    clock,
    cursors: cursors(Buffer.alloc(32, 1)),
    lastUsed: new LastUsed(accounts),
    plan: () => PLAN,
    trail: trail.trail,
    quotas: { ...USUAL_QUOTAS, keys_ever: 1_000_000_000 },
  });
  const caller: Caller = {
    requestId: "01J00000000000000000000000",
    actor: { kind: "key", id: owner.id },
    origin: ORIGIN,
    orgId: org.id,
    projectId: project.id,
    environment: "live",
    scopes: new Set(FIRST_KEY_SCOPES),
  };

  /** Runs an operation; its answer, and how many rows of keys it read. */
  async function call(name: keyof typeof ops, input: { id?: string; query?: object; body?: object }) {
    const op = ops[name] as AnyOperation;
    const inputs = {
      params: op.params?.parse({ id: input.id }),
      query: op.query?.parse(input.query ?? {}),
      body: op.body?.parse(input.body),
    };
    read = 0;
    const answer = (await op.run(inputs as never, caller, NO_HEAD)) as Shown;
    return { answer, read };
  }
  return {
    call,
    idOf,
    nameOf,
    async stop() {
      trail.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
