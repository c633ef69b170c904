/**
 * Lists that are left before their end. A read of LMDB that is not ended keeps one of its 126 places until the process stops; without
 * a place no row can be read.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newKey } from "../../../src/account/key.ts";
import { FIRST_KEY_SCOPES } from "../../../src/account/scopes.ts";
import { newSecret } from "../../../src/account/secret.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { NEWEST_SVC_VERSION } from "../../../src/account/versions.ts";
import type { DeliveryRow } from "../../../src/account/webhooks/delivery.ts";
import { WebhookTables } from "../../../src/account/webhooks/webhook-tables.ts";
import { nextTurn, systemClock } from "../../../src/base/clock.ts";
import { firstOf } from "../../../src/base/lists.ts";
import { openStore, type Store } from "../../../src/store/store.ts";

/** More than the places that LMDB has. */
const TURNS = 150;
const ORG = "org_1";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-reads-"));
  store = openStore(folder);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Reads in turns of the event loop between which rows change, so that none can share the read of the one before. */
async function inTurns<T>(read: () => T): Promise<Set<T>> {
  const rows = store.table<number>("changes");
  const seen = new Set<T>();
  for (let i = 0; i < TURNS; i++) {
    await store.act(() => rows.put("turn", i));
    await store.caughtUp();
    seen.add(read());
    await nextTurn();
  }
  return seen;
}

describe("a list that is left early ends its reads", () => {
  test("of keys of every kind", async () => {
    const accounts = new AccountTables(store);
    const key = (createdAtMs: number, kind: "own" | "playground") => {
      const order = {
        orgId: ORG,
        projectId: "prj_1",
        environment: "live",
        name: kind,
        scopes: FIRST_KEY_SCOPES,
        limits: {},
        budget: { dailyMicroUsd: null, hard: true },
        onDisconnect: "cancel",
        svcVersion: NEWEST_SVC_VERSION,
        lifetimeMs: null,
        rotatedFrom: null,
      } as const;
      return newKey(order, newSecret("live"), createdAtMs);
    };
    await accounts.act(() => {
      for (const ms of [1, 2, 3]) accounts.addKey(key(ms, "own"));
      for (const ms of [4, 5]) {
        const owner = {
          orgId: ORG,
          personId: `usr_${ms}`,
          projectId: "prj_1",
          environment: "live",
        } as const;
        accounts.putPlaygroundKey(owner, key(ms, "playground"));
      }
    });
    const newest = () => firstOf(accounts.keysByAge(ORG, undefined, "any"))?.name;
    expect(await inTurns(newest)).toEqual(new Set(["playground"]));
    expect(Array.from(accounts.keysByAge(ORG, undefined, "any"), ({ createdAtMs }) => createdAtMs)).toEqual([
      5, 4, 3, 2, 1,
    ]);
  });

  test("of owners", async () => {
    const { people } = new AccountTables(store);
    await store.act(() => {
      for (const userId of ["usr_1", "usr_2"])
        people.putMember({ orgId: ORG, userId, role: "owner", addedAtMs: 1, source: "invitation" });
    });
    expect(await inTurns(() => people.hasOwner(ORG))).toEqual(new Set([true]));
  });

  test("of deliveries that wait and that have ended", async () => {
    const ports = { store, clock: systemClock, onFailure: () => {} };
    const webhooks = new WebhookTables(ports);
    const delivery = (id: string) =>
      ({ id, endpointId: "whe_1", status: "pending", createdAtMs: systemClock.now() }) as DeliveryRow;
    await store.act(() => {
      for (const id of ["dlv_1", "dlv_2", "dlv_3", "dlv_4"]) webhooks.addDelivery(delivery(id));
      for (const id of ["dlv_1", "dlv_3"]) webhooks.putDelivery({ ...delivery(id), status: "delivered" });
    });
    const newest = () => firstOf(webhooks.deliveriesOf("whe_1"))?.id;
    expect(await inTurns(newest)).toEqual(new Set(["dlv_4"]));
    expect(Array.from(webhooks.deliveriesOf("whe_1"), ({ id }) => id)).toEqual([
      "dlv_4",
      "dlv_3",
      "dlv_2",
      "dlv_1",
    ]);
    webhooks.close();
  });
});
