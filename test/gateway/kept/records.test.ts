/** S4: a record holds no more of what its caller wrote than its own bounds, whatever was dropped of the request. */
import { expect, test } from "vitest";
import { requestIdOf } from "../../support/observations.ts";
import { sharedGateway } from "../../support/shared-gateway.ts";

const gateway = sharedGateway();

/** As long as names at the top of a body may be. */
const long = "n".repeat(1_000);

test.each([
  ["a member that the dialect lacks", { [long]: 1 }],
  ["many of them", Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`${at}${long}`, 1]))],
  ["a member of a message", { messages: [{ role: "user", content: "Hi", [long.repeat(100)]: 1 }] }],
])("S4: %s with a long name: the warning is short", async (_, more) => {
  const answer = await gateway.chat(
    { model: "weir/sim-messages", max_tokens: 5, messages: [{ role: "user", content: "Hi" }], ...more },
    { key: gateway.testKey },
  );
  expect(answer.status, answer.text.slice(0, 500)).toBe(200);
  const { json } = await gateway.call("GET", `/v1/generation/${requestIdOf(answer)}`);
  for (const warnings of [answer.json.svc.warnings, json.warnings]) {
    expect(JSON.stringify(warnings)).toContain("dropped: /");
    expect(JSON.stringify(warnings).length).toBeLessThan(20_000);
  }
});
