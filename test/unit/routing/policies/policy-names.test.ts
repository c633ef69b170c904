/** What a policy may name: collected from the catalog, anew for each of its snapshots. */
import { expect, test } from "vitest";
import { policyNameOperations } from "../../../../src/routing/policies/policy-names.ts";
import { endpoint, model, provider } from "../../../support/routing/fixtures.ts";

const REACHED = endpoint("ep_b", { provider: provider("cheap", true) });
const UNREACHED = endpoint("ep_a", { provider: provider("dear", true) });

function snapshot() {
  const one = model(REACHED);
  return {
    models: new Map([[one.id, one]]),
    providers: new Map([
      ["dear", UNREACHED.provider],
      ["cheap", REACHED.provider],
    ]),
    unreachable: () => [UNREACHED],
  };
}

test("models, providers, regions, and endpoints with those that the gateway itself does not reach, in order", () => {
  let current = snapshot();
  const { listPolicyNames } = policyNameOperations({ catalog: { current: () => current } });
  const names = () => listPolicyNames.run({} as never, {} as never, {} as never);
  const [id] = current.models.keys();
  expect(names()).toEqual({
    models: [id],
    providers: ["cheap", "dear"],
    regions: [REACHED.region],
    endpoints: [
      { id: "ep_a", model_id: id, provider: "dear", region: UNREACHED.region },
      { id: "ep_b", model_id: id, provider: "cheap", region: REACHED.region },
    ],
  });
  expect(names()).toBe(names());
  const before = names();
  current = snapshot();
  expect(names()).not.toBe(before);
});
