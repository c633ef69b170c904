/** A key and all that replaced it: their limits and budget are one. */
import { describe, expect, test } from "vitest";
import type { KeyRow } from "../../../src/account/key.ts";
import { budgetsOfKey, joinSpendOfLineages } from "../../../src/cluster/cells/money/budgets.ts";
import { accountRig, failure } from "./fixtures.ts";

const rig = accountRig();
const { caller, create, get, patch, rotate } = rig;

describe("C9: the lineage of a key", () => {
  const lineageOf = (secret: string) => rig.keyring.resolve(secret).lineageId;

  test("is its first key's, however often it was rotated, also by rows that say only what each replaced", async () => {
    const first = await create();
    const chain = [first];
    for (let n = 0; n < 3; n++) {
      chain.push(await rotate(chain.at(-1)?.id ?? "", { grace_seconds: 60 }));
      expect(chain.slice(-2).map(({ secret }) => lineageOf(secret))).toEqual([first.id, first.id]);
      rig.clock.advance(60_000);
    }
    expect(await get(first.id)).not.toHaveProperty("lineage_id");
    for (const { id } of chain.slice(1)) expect(await get(id)).toMatchObject({ lineage_id: first.id });
    expect(lineageOf((await create()).secret)).not.toBe(first.id);
    // A folder of an earlier release.
    await rig.accounts.act(() => {
      for (const { id } of chain) {
        const { lineageId: _, ...row } = rig.accounts.key(id) as KeyRow;
        rig.accounts.replaceKey(row);
      }
    });
    expect(rig.accounts.key(chain[3]?.id ?? "")).not.toHaveProperty("lineageId");
    expect(lineageOf(chain[3]?.secret ?? "")).toBe(first.id);
  });

  test("a cell's start joins what Redis has of all its keys but the first, also of ended ones", async () => {
    const before = new Set(Array.from(rig.accounts.successors(), ({ key }) => key.id));
    const first = await create();
    const second = await rotate(first.id, { grace_seconds: 0 });
    const third = await rotate(second.id, { grace_seconds: 0 });
    const joined: unknown[] = [];
    const lane = { send: async ([sent]: [string, unknown[]][]) => [joined.push(sent)] };
    const nowMs = Date.UTC(2026, 2, 14, 12);
    const ground = { clock: { now: () => nowMs }, lane: () => lane } as unknown as Parameters<
      typeof joinSpendOfLineages
    >[0];
    await joinSpendOfLineages(ground, rig.accounts);
    const [[name, list]] = joined as [[string, unknown[]]];
    expect([name, list.length]).toEqual(["spend_join", 5 * (before.size + 2)]);
    for (const { id } of [second, third])
      expect(list.slice(list.indexOf(`k:${id}`)).slice(0, 3)).toEqual([
        `k:${id}`,
        `k:${first.id}`,
        "2026-03-14",
      ]);
  });

  test("has its limits and budget: who changes them on one key must hold the scopes of both", async () => {
    const old = await create({ scopes: ["inference", "read:usage"], limits: { rpm: 9 }, name: "old" });
    const fresh = await rotate(old.id, { grace_seconds: 60 });
    await patch(fresh.id, { scopes: ["inference"] });
    const { secret } = await create({ scopes: ["write:keys", "read:keys", "inference"] });
    const budget = { daily_micro: 5, hard: true };
    expect(await failure(patch(fresh.id, { budget }, caller(secret)))).toBe("scope");
    expect(await get(fresh.id)).toMatchObject({ budget: { daily_micro: 0 } });
    expect(await failure(patch(fresh.id, { name: "fresh" }, caller(secret)))).toBe("done");
    await patch(fresh.id, { budget });
    expect(await get(old.id)).toMatchObject({ budget, limits: { rpm: 9 }, name: "old" });
    await patch(old.id, { limits: { rpm: 3 } });
    expect(await get(fresh.id)).toMatchObject({ budget, limits: { rpm: 3 }, name: "fresh" });
    // One that has ended keeps what it had.
    rig.clock.advance(60_000);
    await patch(fresh.id, { limits: { rpm: 7 } });
    expect(await get(old.id)).toMatchObject({ status: "revoked", limits: { rpm: 3 } });
  });

  describe("whose keys had other limits and budgets before these were the lineage's", () => {
    const differing = async () => {
      const old = await create({ limits: { rpm: 9, tpm: 90 }, budget: { daily_micro: 5, hard: false } });
      const fresh = await rotate(old.id, { grace_seconds: 60 });
      await rig.accounts.act(() => {
        const row = rig.accounts.key(fresh.id) as KeyRow;
        rig.accounts.replaceKey({ ...row, limits: { rpm: 4 }, budget: { dailyMicroUsd: 7, hard: true } });
      });
      return { old, fresh };
    };

    test("a change copies what it names", async () => {
      const { old, fresh } = await differing();
      await patch(fresh.id, { limits: { rpm: 3 } });
      expect(await get(old.id)).toMatchObject({
        limits: { rpm: 3, tpm: 90 },
        budget: { daily_micro: 5, hard: false },
      });
      await patch(fresh.id, { limits: { rpm: null }, budget: { daily_micro: 6 } });
      expect(await get(old.id)).toMatchObject({ budget: { daily_micro: 6, hard: false } });
      expect(rig.accounts.key(old.id)?.limits).toEqual({ tpm: 90 });
      expect(await get(fresh.id)).toMatchObject({ budget: { daily_micro: 6, hard: true } });
    });

    test("those of the newest that works count for the calls of all", async () => {
      const { old, fresh } = await differing();
      const seen = () =>
        [old, fresh].map(({ secret }) => {
          const { keyBudget, limits } = rig.keyring.resolve(secret);
          return [keyBudget, limits.rpm];
        });
      const newest = [{ dailyMicroUsd: 7, hard: true }, 4];
      expect(seen()).toEqual([newest, newest]);
      expect(budgetsOfKey(rig.accounts, old.id, rig.clock.now())?.keyDaily).toEqual({
        limitMicroUsd: 7,
        hard: true,
      });
      // Contexts of both are dropped by a change of one.
      await rig.accounts.act(() => {
        const row = rig.accounts.key(fresh.id) as KeyRow;
        rig.accounts.replaceKey({ ...row, limits: { rpm: 2 } });
      });
      expect(seen().map(([, rpm]) => rpm)).toEqual([2, 2]);
      await rig.revoke(fresh.id);
      expect(rig.keyring.resolve(old.secret)).toMatchObject({
        keyBudget: { dailyMicroUsd: 5, hard: false },
        limits: { rpm: 9 },
      });
    });
  });
});
