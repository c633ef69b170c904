/** When a cell tells the others of its claim on the quota of kept bytes anew. */
import { expect, test } from "vitest";
import { KeptClaim } from "../../../../src/credits/kept/kept-claim.ts";
import { NO_COUNTS } from "../../../../src/credits/kept/kept-counts.ts";
import { KeptPool } from "../../../../src/credits/kept/kept-pool.ts";
import type { KeptRetention } from "../../../../src/credits/kept/kept-retention.ts";

const MAX = 640_000;
/** With two cells each claims so much ahead that nothing asks for: a 64th of the quota, divided. */
const IDLE = 5000;
const CELLS = 2;

/** A claim that was told while calls had taken so many bytes, which is all that it covers but for what is claimed ahead. */
function told(takenBytes: number) {
  const pool = new KeptPool({ orgId: "org_1", environment: "live" }, NO_COUNTS, MAX, {} as KeptRetention);
  pool.reserve(takenBytes);
  const claim = new KeptClaim(pool);
  claim.tell(CELLS, 0);
  claim.heard(CELLS, 0);
  return { pool, claim, roomBytes: pool.ceilingBytes - takenBytes };
}

test("it is due before it was ever told, and never where the quota has no limit", () => {
  const quotas = { live: MAX, test: Number.POSITIVE_INFINITY };
  const due = (["live", "test"] as const).map((environment) => {
    const pool = new KeptPool(
      { orgId: "org_1", environment },
      NO_COUNTS,
      quotas[environment],
      {} as KeptRetention,
    );
    return new KeptClaim(pool).isDue(CELLS);
  });
  expect(due).toEqual([true, false]);
});

test("it is due once calls leave less than half of what is claimed ahead at rest", () => {
  const { pool, claim, roomBytes } = told(100_000);
  pool.reserve(roomBytes - IDLE / 2);
  expect(claim.isDue(CELLS)).toBe(false);
  pool.reserve(1);
  expect(claim.isDue(CELLS)).toBe(true);
});

test("it is due at once where a call asked for more than the ceiling", () => {
  const { pool, claim, roomBytes } = told(100_000);
  pool.reserve(1);
  expect(claim.isDue(CELLS)).toBe(false);
  expect(pool.fits(roomBytes)).toBe(false);
  expect(claim.isDue(CELLS)).toBe(true);
});

test("it is due where nothing was asked for since, until no more is claimed ahead than at rest", () => {
  const { claim, pool } = told(100_000);
  expect(claim.isDue(CELLS)).toBe(true);
  claim.tell(CELLS, 0);
  claim.heard(CELLS, 0);
  expect(pool.ceilingBytes).toBe(100_000 + IDLE);
  expect(claim.isDue(CELLS)).toBe(false);
});
