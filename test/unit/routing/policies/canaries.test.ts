/** Canaries: warming, green, red; red at once in memory, for good, and in the store. */
import { expect, test, vi } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import { until } from "../../../support/wait.ts";
import { OWNER, policyRig, START } from "./fixtures.ts";

const rig = policyRig();

const CANARY = "canary: {endpoint: ep_dear, percent: 5, max_error_rate: 0.1, min_samples: 20}";
const YAML = `version: 1\ndefaults:\n  ${CANARY}\n`;

const active = () => {
  const policy = rig.policies.of({ orgId: "org_1", projectId: "prj_1" });
  if (policy === undefined) throw new Error("nothing is in force");
  return policy;
};
const state = () => active().canaryState("ep_dear");
const results = (failed: boolean, times: number) => {
  for (let i = 0; i < times; i++) active().canaryResult("ep_dear", failed);
};
const listed = async (name = "house") => (await rig.call("listCanaries", { name })).data;

async function house(yaml = YAML): Promise<void> {
  await rig.create("house", yaml);
  await rig.activate("house", 1);
}

test("it warms until its results are in, and is green while they are good", async () => {
  await house();
  expect(await listed()).toEqual([
    {
      version: 1,
      endpoint_id: "ep_dear",
      state: "warming",
      error_rate: 0,
      error_rate_interval: { low: 0, high: 1 },
      samples: 0,
      failures: 0,
      max_error_rate: 0.1,
      min_samples: 20,
      reason: "0 of the 20 results are in that it is judged by; 0 of them failed",
      is_active: true,
      active_since: START,
      evaluated_at: null,
    },
  ]);
  results(false, 18);
  results(true, 1);
  expect(state()).toBe("warming");
  rig.clock.advance(1_500);
  results(false, 1);
  expect(state()).toBe("green");
  expect(await listed()).toMatchObject([
    {
      state: "green",
      samples: 20,
      error_rate: 0.05,
      reason: "1 of 20 calls failed: no proof of an error rate above 10 %",
      evaluated_at: new Date(rig.clock.now()).toISOString(),
    },
  ]);
});

test("it turns red at the result that proves it, at once and once", async () => {
  await house();
  results(true, 19);
  // Proof enough, but too few results.
  expect([state(), rig.reds]).toEqual(["warming", []]);
  results(true, 1);
  expect(state()).toBe("red");
  expect(rig.reds).toEqual([
    { orgId: "org_1", policy: "house", version: 1, endpointId: "ep_dear", errorRate: 1, samples: 20 },
  ]);
  // Calls that were under way change nothing.
  results(false, 500);
  results(true, 5);
  expect([state(), rig.reds.length]).toEqual(["red", 1]);
  const [canary] = await listed();
  expect(canary).toMatchObject({ state: "red", samples: 20, error_rate: 1 });
  expect(canary?.reason).toMatch(/^20 of 20 calls failed: an error rate of at most 10 %/);
});

test("a green one turns red too, when its failures are more than chance", async () => {
  await house();
  const random = seededRandom(3);
  results(false, 100);
  expect(state()).toBe("green");
  for (let i = 0; i < 1_000 && state() !== "red"; i++) results(random() < 0.5, 1);
  expect(state()).toBe("red");
  expect(rig.reds[0]?.samples).toBeLessThan(200);
});

test("red survives a restart, and activating another version and back; a new version starts anew", async () => {
  await house();
  results(true, 20);
  await rig.restart();
  expect(state()).toBe("red");
  await rig.addVersion("house", YAML);
  await rig.activate("house", 2);
  expect(state()).toBe("warming");
  expect((await listed()).map((c) => [c.version, c.state])).toEqual([
    [2, "warming"],
    [1, "red"],
  ]);
  await rig.activate("house", 1);
  expect([state(), rig.reds.length]).toEqual(["red", 1]);
});

test("counts go on after a restart", async () => {
  await house();
  results(false, 9);
  results(true, 6);
  await rig.restart();
  expect(await listed()).toMatchObject([{ samples: 15, error_rate: 0.4 }]);
  results(true, 4);
  expect(state()).toBe("warming");
  results(true, 1);
  expect(state()).toBe("red");
});

test("a burst of results is a few writes, and the last of them has everything", async () => {
  await house();
  const saved = vi.spyOn(rig.policies.tables, "addToCanary");
  results(false, 1_000);
  await rig.policies.close();
  expect(saved).toHaveBeenCalledTimes(1);
  const burst = Array.from({ length: 200 }, async (_, i) => {
    await new Promise((resolve) => setImmediate(resolve));
    results(i % 50 === 0, 1);
  });
  await Promise.all(burst);
  await rig.policies.close();
  expect(saved.mock.calls.length).toBeLessThan(50);
  const key = { orgId: "org_1", policy: "house", version: 1 };
  expect(rig.policies.tables.canary(key, "ep_dear")).toMatchObject({
    samples: 1_200,
    failures: 4,
    state: "green",
  });
});

test("counts that cannot be saved are reported, and the next result saves them", async () => {
  await house();
  const { tables } = rig.policies;
  const save = vi.spyOn(tables, "addToCanary");
  for (const fault of [
    () => Promise.reject(new Error("full")),
    () => {
      throw new Error("at once");
    },
  ]) {
    save.mockImplementationOnce(fault);
    const told = rig.failures.length;
    results(false, 1);
    await until("the failure is told", () => rig.failures.length > told);
  }
  results(true, 1);
  await rig.policies.close();
  expect(tables.canary({ orgId: "org_1", policy: "house", version: 1 }, "ep_dear")).toMatchObject({
    samples: 3,
    failures: 1,
  });
});

test("red that could not be saved is saved by the next result or at the end", async () => {
  await house();
  const { tables } = rig.policies;
  const key = { orgId: "org_1", policy: "house", version: 1 };
  const save = vi.spyOn(tables, "addToCanary").mockRejectedValueOnce(new Error("full"));
  results(true, 20);
  await until("the failure is told", () => rig.failures.length > 0);
  expect([state(), tables.canary(key, "ep_dear")]).toEqual(["red", undefined]);
  // The result of a call that was under way: it saves red, and changes nothing else.
  results(false, 1);
  await rig.policies.close();
  expect(tables.canary(key, "ep_dear")).toMatchObject({ state: "red", samples: 20 });

  await rig.addVersion("house", YAML);
  await rig.activate("house", 2);
  save.mockRejectedValueOnce(new Error("full"));
  results(true, 20);
  await until("the failure is told", () => rig.failures.length > 1);
  await rig.restart();
  expect(state()).toBe("red");
});

test("projects under one version share its trial; another org's has its own", async () => {
  await house();
  rig.policies.of({ orgId: "org_1", projectId: "prj_2" })?.canaryResult("ep_dear", true);
  results(true, 1);
  expect(await listed()).toMatchObject([{ samples: 2 }]);
  const stranger = { ...OWNER, orgId: "org_2" };
  await rig.create("house", YAML, stranger);
  await rig.activate("house", 1, undefined, stranger);
  expect((await rig.call("listCanaries", { name: "house" }, stranger)).data).toMatchObject([{ samples: 0 }]);
});

test("an endpoint that several rules try has one trial, under the strictest limit", async () => {
  const rules = [
    "rules:",
    "  - {name: a, match: {stream: true}, then: {canary: {endpoint: ep_dear, percent: 5, max_error_rate: 0.02, min_samples: 50}}}",
    "  - {name: b, then: {canary: false}}",
    "  - {name: c, then: {canary: {endpoint: ep_cheap, percent: 1, max_error_rate: 0, min_samples: 1}}}",
  ];
  await house(`${YAML}${rules.join("\n")}\n`);
  expect((await listed()).map((c) => [c.endpoint_id, c.max_error_rate, c.min_samples])).toEqual([
    ["ep_dear", 0.02, 20],
    ["ep_cheap", 0, 1],
  ]);
  // No failure is allowed: the first is enough.
  active().canaryResult("ep_cheap", true);
  expect(active().canaryState("ep_cheap")).toBe("red");
});

test("an endpoint that is no canary of the version is never judged", async () => {
  await house();
  for (let i = 0; i < 100; i++) active().canaryResult("ep_other", true);
  expect([active().canaryState("ep_other"), rig.reds]).toEqual(["warming", []]);
});

test("drafts and green canaries are not listed once their version is inactive", async () => {
  await house();
  results(false, 30);
  await rig.addVersion("house", YAML);
  await rig.addVersion("house", "version: 1");
  await rig.activate("house", 3);
  expect(await listed()).toEqual([]);
});
