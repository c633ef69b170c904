/** The plan of a call in its detail, over HTTP: which endpoints were considered, in which order, and why others were not. */
import { describe, expect, test } from "vitest";
import type { Answer } from "../../../support/gateway.ts";
import { decided, policyGateway, steered } from "./e2e.fixtures.ts";

const rig = policyGateway();
const { ask, enforce, post, recordOf } = rig;

interface Considered {
  readonly endpoint_id: string;
  readonly provider: string;
  readonly region: string;
  readonly order: number | null;
  readonly attempted: boolean;
  readonly chosen: boolean;
  readonly reason: string | null;
  readonly excluded: string | null;
  readonly excluded_because: string | null;
  readonly est_cost_micro?: number;
}

/** The plan of a call, once before its record is in ClickHouse and once there: both are the same. */
async function planOf(answer: Answer) {
  const pending = await recordOf(answer);
  expect((await rig.gateway.call("GET", "/v1/requests")).status).toBe(200);
  const stored = await recordOf(answer);
  expect(stored).toEqual(pending);
  return stored.plan;
}

describe.each([false, true])("the plan of a call, streamed: %s", (stream) => {
  test("by a policy: each endpoint with its place or the reason of its exclusion, and what was asked", async () => {
    const version = await enforce(
      "house",
      decided("sort: price", "order: [broken]", "ignore: [mute]", "require: {regions: [eu, us, local]}"),
    );
    const answer = await ask({ stream });
    const plan = await planOf(answer);
    expect(plan).toMatchObject({
      policy: "house",
      policy_version: version,
      rule: null,
      sort: "price",
      notes: ["No rule of the policy matches: its defaults apply."],
    });
    const considered = plan.considered as Considered[];
    expect(considered.map(({ endpoint_id }) => endpoint_id).toSorted()).toEqual(
      Object.values(rig.ids).toSorted(),
    );
    expect(considered[0]).toEqual({
      endpoint_id: rig.ids.broken,
      provider: "broken",
      region: "local",
      order: 1,
      attempted: true,
      chosen: false,
      reason: "asked for first",
      excluded: null,
      excluded_because: null,
    });
    expect(considered[1]).toEqual({
      endpoint_id: rig.ids.alpha,
      provider: "alpha",
      region: "local",
      order: 2,
      attempted: true,
      chosen: true,
      reason: expect.stringMatching(/^about \S+ USD/),
      excluded: null,
      excluded_because: null,
      est_cost_micro: expect.any(Number),
    });
    const costs = considered.flatMap((one) => one.est_cost_micro ?? []);
    expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    expect(costs[0]).toBeGreaterThan(0);
    expect(considered.find(({ provider }) => provider === "mute")).toEqual({
      endpoint_id: rig.ids.mute,
      provider: "mute",
      region: "local",
      order: null,
      attempted: false,
      chosen: false,
      reason: null,
      excluded: "route",
      excluded_because: "it is left out by name (ignore)",
    });
    await post("/house/deactivate", {});
  });

  test("without a policy, with names of the request's that look like parts of the line", async () => {
    const regions = ["eu", "a), ep_x (status: it is switched off"];
    const answer = await ask({ stream, ...steered({ require: { regions }, sort: "price" }) });
    const plan = await planOf(answer);
    expect(plan).toMatchObject({ policy: null, policy_version: null, rule: null });
    const considered = plan.considered as Considered[];
    expect(considered.map(({ provider, order, excluded }) => [provider, order, excluded])).toEqual([
      ["beta", 1, null],
      ["alpha", null, "region"],
      ["broken", null, "region"],
      ["gamma", null, "region"],
      ["mute", null, "region"],
    ]);
    expect(considered[1]?.excluded_because).toBe(
      "its region local is not among eu, a, ep_x status: it is switched off",
    );
  });

  test("of a call without an endpoint has all of them with their exclusions, and none that was asked", async () => {
    const answer = await ask({ stream, ...steered({ require: { regions: ["mars"] } }) });
    expect([answer.status, answer.json.error.code]).toEqual([404, "no_endpoint"]);
    const { considered } = await planOf(answer);
    const told = (considered as Considered[]).map((one) => ({
      endpoint_id: one.endpoint_id,
      kind: one.excluded,
      reason: one.excluded_because,
    }));
    expect(told).toEqual(answer.json.error.details.excluded);
    expect((considered as Considered[]).some(({ attempted, chosen }) => attempted || chosen)).toBe(false);
  });

  test("of a call that a policy forbids, or whose model is unknown, is null", async () => {
    await enforce("no", decided("deny: {message: Not today}"));
    const denied = await ask({ stream });
    await post("/no/deactivate", {});
    const unknown = await ask({ stream, model: "weir/nope" });
    for (const answer of [denied, unknown]) expect(await planOf(answer)).toBeNull();
  });
});

test("a call's detail leads to its charge, its receipt and its entry", async () => {
  const answer = await ask(steered({ providers: { order: ["alpha"] } }));
  const detail = await recordOf(answer);
  expect(detail.cost).toEqual(answer.json.svc.cost);
  expect(detail.cost.lines.length).toBeGreaterThan(0);
  const entries = await rig.gateway.call("GET", detail.ledger);
  expect(entries.json.data).toMatchObject([
    { request_id: detail.request_id, amount_micro_usd: -detail.cost.total_micro_usd },
  ]);
  const receipt = await rig.gateway.call("GET", detail.receipt);
  expect([receipt.status, receipt.headers.get("content-type")]).toEqual([200, "application/jose"]);
  const refused = await recordOf(await ask({ model: "weir/nope" }));
  expect([refused.cost.total_micro_usd, refused.cost.lines, refused.ledger]).toEqual([0, [], null]);
  expect((await rig.gateway.call("GET", refused.receipt)).status).toBe(200);
});
