/** Whose statements run next in the embedded engine: an org with many users and slow statements delays the others by little. */
import { expect, test } from "vitest";
import { ALL_AT_ONCE } from "../../../src/analytics/analyst-run.ts";
import { ANALYST_AT_ONCE } from "../../../src/analytics/analyst-settings.ts";
import { Analysts, type EngineUser } from "../../../src/analytics/engine-analysts.ts";

const user = (orgId: string, at: number): EngineUser => ({
  ...{ username: `${orgId}_${at}`, digest: "", orgId, expiresAtMs: Number.POSITIVE_INFINITY },
});

/** Statements that run until they are ended. */
function slowStatements(analysts: Analysts) {
  const ends: (() => void)[] = [];
  let running = 0;
  const start = (by: EngineUser) =>
    analysts.run(by, async () => {
      running++;
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
    });
  return { start, running: () => running, endAll: () => ends.splice(0).map((end) => end()) };
}
/** Whatever can go on without an end of a statement has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("S1: however many users an org has, its statements leave a place and the queue to other orgs", async () => {
  const analysts = new Analysts(() => 0);
  const slow = slowStatements(analysts);
  const outcomes = Array.from({ length: 20 }, (_, at) => user("org_a", at)).flatMap((by) =>
    Array.from({ length: ANALYST_AT_ONCE }, () => slow.start(by).then(() => "ran", String)),
  );
  await settled();
  expect(slow.running()).toBe(ANALYST_AT_ONCE);
  expect(ANALYST_AT_ONCE).toBeLessThan(ALL_AT_ONCE);
  const other = slow.start(user("org_b", 1));
  await settled();
  expect(slow.running()).toBe(ANALYST_AT_ONCE + 1);
  while (slow.endAll().length > 0) await settled();
  await other;
  const texts = await Promise.all(outcomes);
  expect(texts.filter((text) => text === "ran")).toHaveLength(ANALYST_AT_ONCE + 10);
  expect(texts.find((text) => text !== "ran")).toContain("Code: 202");
});
