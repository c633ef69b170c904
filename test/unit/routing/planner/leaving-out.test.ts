/** C13: which requirement leaves a call without an endpoint, and who set it. */
import { expect, test } from "vitest";
import type { RouteOptions } from "../../../../src/base/route.ts";
import { compilePolicy, decideAlone } from "../../../../src/routing/language/policy.ts";
import type { PolicyBlock } from "../../../../src/routing/language/policy-document.ts";
import type { RouteFacts } from "../../../../src/routing/planner/eligibility.ts";
import { leftOut, leftOutText } from "../../../../src/routing/planner/left-out.ts";
import { callFacts } from "../../../support/policy.good-samples.ts";
import { endpoint, facts, provider } from "../../../support/routing/fixtures.ts";

const KEEPS = { trains: true, retentionDays: 30, zdr: false };
const ENDPOINTS = [
  endpoint("first", { dataPolicy: KEEPS, capabilities: { tools: false } }),
  endpoint("second", { dataPolicy: KEEPS, region: "us", contextLength: 50 }),
  endpoint("off", { status: "inactive" }),
];
const FREE: RouteFacts["orgPolicy"] = { zdr: false, noTrain: false, regions: [] };

const told = (given: Partial<RouteFacts>, route: RouteOptions = {}, block?: PolicyBlock): string => {
  const decision =
    block === undefined
      ? decideAlone(route)
      : compilePolicy({ version: 1, defaults: block }, { name: "house", version: 1 }).decide(
          callFacts({}),
          route,
        );
  return leftOutText(leftOut(ENDPOINTS, { facts: facts(given), decision, route }), "v/m");
};
const all = (what: string): string => `${what} excludes all 2 endpoints of v/m.`;

test.each<[string, Partial<RouteFacts>, string]>([
  ["retention", { orgPolicy: { ...FREE, zdr: true } }, all("data_policy.zdr of the organisation")],
  ["training", { orgPolicy: { ...FREE, noTrain: true } }, all("data_policy.no_train of the organisation")],
  ["a test key", { environment: "test" }, all("environment test of the key")],
  ["the length of the output", { maxTokens: 9_000 }, all("the length of the request")],
  [
    "what each lacks",
    { hasTools: true, promptTokens: 60 },
    "tools of the request excludes 1 of the 2 endpoints of v/m, the length of the request excludes 1.",
  ],
  ["nothing", {}, ""],
])("of an organisation or a call: %s", (_what, given, words) => {
  const short = { promptTokens: 10, maxTokens: 10 };
  expect(told({ ...short, ...given })).toBe(words);
});

test.each<[string, RouteOptions, PolicyBlock | undefined, string]>([
  ["a request", { require: { zdr: true } }, undefined, all("require.zdr of the request")],
  ["a policy", {}, { require: { no_train: true } }, all("require.no_train of the routing policy")],
  [
    "a request, where the policy asks for it too",
    { require: { zdr: true } },
    { require: { zdr: true } },
    all("require.zdr of the request"),
  ],
  [
    "both together",
    { require: { regions: ["eu"] } },
    { require: { regions: ["us"] } },
    all("require.regions [] of the routing policy and the request together"),
  ],
  [
    "a request's price below the policy's",
    { require: { max_price: { input: 0.01 } } },
    { require: { max_price: { input: 9 } } },
    all('require.max_price {"input":0.01} of the request'),
  ],
])("set by %s", (_who, route, block, words) => {
  expect(told({ promptTokens: 10, maxTokens: 10 }, route, block)).toBe(words);
});

test("endpoints that are switched off count for nothing, and one alone is called so", () => {
  const one = endpoint("one", { provider: provider("p") });
  const off = endpoint("two", { provider: { ...provider("q"), status: "inactive" } });
  const route = { only: ["nobody"] };
  const found = leftOut([one, off], { facts: facts(), decision: decideAlone(route), route });
  expect(leftOutText(found, "v/m")).toBe('only ["nobody"] of the request excludes the one endpoint of v/m.');
});
