/** Charges of a cell, as the next process of its folder reads them. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Charges } from "../../../src/cells/credit/charges.ts";
import type { ChargeSpend } from "../../../src/credits/purse.ts";
import { tempStore } from "../../support/credits/fixtures.ts";

let disk: ReturnType<typeof tempStore>;
beforeEach(() => {
  disk = tempStore();
});
afterEach(() => disk.dispose());

const open = () => new Charges(disk.store, "1", { onNumbered() {}, onUncharged() {} });

test("C9: a charge that a former process left is counted for the lineage of its key", async () => {
  const written = open();
  const add = async (requestId: string, spend: ChargeSpend) => {
    const charge = { orgId: "org_1", requestId, atMs: 1, amountMicroUsd: 10 };
    await disk.store.act(() => written.add(charge, spend));
  };
  const of = { projectId: "prj_1", day: "2026-03-14" };
  await add("r1", { keyId: "key_1", ...of });
  await add("r2", { keyId: "key_2", lineageId: "key_1", ...of });
  await add("r3", { keyId: "key_3", lineageId: "key_3", ...of });
  for (const charges of [written, open()]) {
    await charges.secure();
    const sums = charges.batchAfter(0)?.scopes.sums ?? [];
    expect(Array.from(sums, ([scope, { sumMicroUsd }]) => [scope, sumMicroUsd])).toEqual([
      ["k:key_1", 20],
      ["p:prj_1", 30],
      ["o:org_1", 30],
      ["k:key_3", 10],
    ]);
  }
});
