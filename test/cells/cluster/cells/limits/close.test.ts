/** A cell that stops leaves nothing of the keys' limits set aside. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Admission } from "../../../../../src/credits/limits/limits.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type LimitsRig, openLimitsRig } from "./limits-rig.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)("a cell that stops", () => {
  let rig: LimitsRig;
  beforeAll(async () => {
    rig = await openLimitsRig();
  });
  afterAll(async () => await rig.close());

  test("gives back batches and free slots, and admits nothing any more", async () => {
    const cell = await rig.cell("a");
    const key = { keyId: "left", limits: { rpm: 1000, tpm: 100_000, concurrency: 500 } };
    const used: Admission[] = [];
    for (let n = 0; n < 60; n++) {
      const answer = await rig.admit(cell, key, 10);
      if (answer?.admitted === true) used.push(answer);
      await rig.pass(5);
    }
    expect(used).toHaveLength(60);
    for (const admission of used) admission.release();
    const leased = async () => (await rig.link.call("HKEYS", "{weir}:leased:left")) as Buffer[];
    expect((await leased()).map((field) => String(field).slice(0, 2)).sort()).toEqual(["c:", "w:"]);
    const closed = cell.limits.close();
    await rig.rest();
    await closed;
    expect(await leased()).toEqual([]);
    await expect(async () => await cell.limits.admit(key, 10)).rejects.toMatchObject({ status: 503 });
    // What was used counts on, and nothing else.
    const other = await rig.cell("b");
    expect(await rig.admit(other, key, 10)).toMatchObject({ admitted: true });
    expect(other.limits.state(key).requests?.remaining).toBe(1000 - 61);
    expect(other.limits.state(key).tokens?.remaining).toBe(100_000 - 610);
  });
});
