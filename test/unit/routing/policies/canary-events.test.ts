/** What is told of a red canary, which must not keep the canary from being stored as red. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Canaries } from "../../../../src/routing/policies/canary/canary.ts";
import { canaryRed } from "../../../../src/routing/policies/policy-events.ts";
import { PolicyTables } from "../../../../src/routing/policies/policy-tables.ts";
import { Events } from "../../../../src/store/events/events.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

let disk: ReturnType<typeof tempStore>;
beforeEach(() => {
  disk = tempStore();
});
afterEach(() => disk.dispose());

test("a canary is stored as red once, with its event, though a listener of the event throws", async () => {
  const clock = new ManualClock("2026-09-09T12:00:00.000Z");
  const tables = new PolicyTables(disk.store);
  const [unsaved, unheard]: [unknown[], unknown[]] = [[], []];
  const events = new Events({ store: disk.store, clock, onFailure: (error) => void unheard.push(error) });
  events.listen(() => {
    throw new Error("the listener is broken");
  });
  const canaries = new Canaries({
    tables,
    clock,
    onCanaryRed: () => {},
    onFailure: (error) => void unsaved.push(error),
    putCanaryRed: ({ policy, version, endpointId, errorRate, samples }) =>
      events.emit(canaryRed, "org_1", {
        policy,
        version,
        samples,
        endpoint_id: endpointId,
        error_rate: errorRate,
      }),
  });
  const key = { orgId: "org_1", policy: "house", version: 1 };
  const trial = canaries.trial(key, { endpoint: "ep_dear", percent: 5, maxErrorRate: 0.1, minSamples: 20 });
  for (let i = 0; i < 25; i++) trial.result(true);
  await canaries.close();
  events.close();
  expect(tables.canary(key, "ep_dear")).toMatchObject({ state: "red", samples: 20 });
  expect([...events.of("org_1")].map(({ type }) => type)).toEqual(["canary.red"]);
  expect(unsaved).toEqual([]);
  expect(unheard).toContainEqual(new Error("the listener is broken"));
});
