/** Experiments and canaries as their owner sees them, over HTTP. */
import { expect, test } from "vitest";
import { recorded } from "../../../support/observations.ts";
import { by, decided, policyGateway } from "./e2e.fixtures.ts";

const rig = policyGateway();
const { post, list, ask, recordOf, enforce } = rig;

test("an experiment keeps each user in an arm, and its report counts what was called", async () => {
  const arms = `[{arm: a, endpoint: ${rig.ids.alpha}, weight: 1}, {arm: b, endpoint: ${rig.ids.gamma}, weight: 1}]`;
  await enforce("trial", decided(`experiment: {name: hosts, arms: ${arms}}`, "ignore: [broken, mute]"));
  const seen: Record<string, { requests: number; cost: number; tokens: number }> = {};
  const armOf = new Map<string, string>();
  for (let i = 0; i < 36; i++) {
    const user = `user-${i % 12}`;
    const { json, headers } = await ask({ svc: { metadata: { user_id: user } }, max_tokens: 1 + (i % 5) });
    const arm = /experiment=hosts arm=(\w)/.exec(headers.get("x-svc-route-trace") ?? "")?.[1] ?? "";
    expect(json.svc.provider).toBe(arm === "a" ? "alpha" : "gamma");
    expect(armOf.get(user) ?? arm).toBe(arm);
    armOf.set(user, arm);
    const sum = seen[arm] ?? { requests: 0, cost: 0, tokens: 0 };
    seen[arm] = sum;
    sum.requests++;
    sum.cost += json.svc.cost.total_micro_usd;
    sum.tokens += json.usage.completion_tokens;
  }
  expect(Object.keys(seen).sort()).toEqual(["a", "b"]);
  // A report of a busy engine is served as far as the records are inserted.
  await recorded(rig.gateway);
  const { json } = await rig.gateway.call("GET", "/v1/policies/trial/experiments?hours=1");
  expect([json.object, json.hours]).toEqual(["list", 1]);
  expect(json.data).toMatchObject(
    ["a", "b"].map((arm) => ({
      arm,
      experiment: "hosts",
      requests: seen[arm]?.requests,
      errors: 0,
      cost_micro: seen[arm]?.cost,
      output_tokens: seen[arm]?.tokens,
    })),
  );
  for (const arm of json.data) expect(arm.ttft_p95_ms).toBeGreaterThanOrEqual(arm.ttft_p50_ms);
  const steeredItself = await ask({ svc: { route: { providers: { order: ["alpha"] } } } });
  expect(await recordOf(steeredItself)).toMatchObject({ policy: "trial", experiment: "", arm: "" });
  await post("/trial/deactivate", {});
});

test("of 60 calls at once each result counts once, and none after red", async () => {
  const canary = `canary: {endpoint: ${rig.ids.broken}, percent: 100, max_error_rate: 0.1, min_samples: 40}`;
  await enforce("crowd", decided(canary, "only: [alpha, broken]", "sort: price"));
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask()));
  expect(new Set(answers.map(by))).toEqual(new Set(["alpha"]));
  // An endpoint in trouble is left to probes, so perhaps not all came to it.
  const tried = async () => (await list("/crowd/canaries"))[0];
  const { samples } = await tried();
  expect(samples).toBeGreaterThan(0);
  expect(samples).toBeLessThanOrEqual(40);
  for (let i = 0; i < 40 && (await tried()).state === "warming"; i++) await ask();
  expect(await tried()).toMatchObject({ state: "red", samples: 40, error_rate: 1 });
  // What a test key does counts for nothing.
  await enforce("crowd", decided(canary, "only: [alpha, broken]"));
  await Promise.all(Array.from({ length: 5 }, () => ask({}, { key: rig.gateway.testKey })));
  expect(await tried()).toMatchObject({ version: 2, state: "warming", samples: 0 });
  await post("/crowd/deactivate", {});
});

test("a red canary has no share from the next call on; a new version starts anew", async () => {
  const canary = `canary: {endpoint: ${rig.ids.broken}, percent: 100, max_error_rate: 0.1, min_samples: 4}`;
  const yaml = decided(canary, "only: [alpha, broken]");
  expect(await enforce("risky", yaml)).toBe(1);
  const firstTried = async () => {
    const answer = await ask();
    expect(by(answer)).toBe("alpha");
    return /try: 1 (\S+)/.exec(answer.headers.get("x-svc-route-trace") ?? "")?.[1];
  };
  // Calls at once: whichever result comes in fourth, no plan after it has the canary first.
  for (let i = 0; i < 4; i++) expect(await firstTried()).toBe(rig.ids.broken);
  const [report] = await list("/risky/canaries");
  expect(Object.keys(report).sort()).toEqual(
    [
      "endpoint_id",
      "active_since",
      "error_rate",
      "error_rate_interval",
      "evaluated_at",
      "failures",
      "is_active",
      "max_error_rate",
      "min_samples",
      "reason",
      "samples",
      "state",
      "version",
    ].sort(),
  );
  expect(report).toMatchObject({
    version: 1,
    endpoint_id: rig.ids.broken,
    state: "red",
    error_rate: 1,
    samples: 4,
    failures: 4,
    is_active: true,
  });
  // Red, since even the lowest rate that is possible is above the limit.
  expect(report.error_rate_interval.low).toBeGreaterThan(0.1);
  const isOutside = async () => expect(await firstTried()).toBe(rig.ids.alpha);
  await isOutside();

  await rig.restart();
  await isOutside();
  expect((await list("/risky/canaries"))[0]).toMatchObject({ state: "red", samples: 4 });

  await post("/risky/deactivate", {});
  await post("/risky/activate", { version: 1 });
  await isOutside();

  expect(await enforce("risky", yaml)).toBe(2);
  expect(
    (await list("/risky/canaries")).map((c: { version: number; state: string }) => [c.version, c.state]),
  ).toEqual([
    [2, "warming"],
    [1, "red"],
  ]);
  expect(await firstTried()).toBe(rig.ids.broken);
  await post("/risky/deactivate", {});
});
