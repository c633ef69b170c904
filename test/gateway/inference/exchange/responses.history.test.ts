/** A conversation kept by `previous_response_id`: it goes on where it began, and what only that place can read stays there (T49). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
const entry = { capabilities: ["tools", "reasoning"] };
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: ["one", "two", "three"].map((provider) => ({ provider, dialects: ["responses"], entry })),
    settings: { limits: { max_body_bytes: 20_000 } },
  });
});
afterAll(() => gateway.stop());

const ask = (body: object) =>
  gateway.call("POST", "/v1/responses", { body: { model: "test/model", ...body } });
const at = (provider: string) => ({ route: { providers: { order: [provider] } } });
const seen = () => JSON.parse(gateway.simulator.calls.at(-1)?.body.toString() ?? "{}");
const reasoningIn = (input: readonly { type?: string }[]) => input.filter(({ type }) => type === "reasoning");

describe("previous_response_id", () => {
  const thinking = {
    input: "Think. [[sim reasoning=3]]",
    include: ["reasoning.encrypted_content"],
    svc: at("two"),
  };

  test("T49: goes on at the endpoint that answered, with the reasoning that it sealed", async () => {
    const first = await ask(thinking);
    expect(first.json.svc.provider).toBe("two");
    for (let turn = 0; turn < 5; turn++) {
      const next = await ask({ input: "And?", previous_response_id: first.json.id });
      expect(next.json.svc.provider).toBe("two");
      expect(next.json.previous_response_id).toBe(first.json.id);
      expect(reasoningIn(seen().input)).toHaveLength(1);
    }
  });

  test("T49: at another provider its reasoning is left out, and told", async () => {
    const first = await ask(thinking);
    const next = await ask({ input: "And?", previous_response_id: first.json.id, svc: at("three") });
    expect(next.json.svc).toMatchObject({ provider: "three", warnings: ["dropped: /input/1"] });
    expect(reasoningIn(seen().input)).toEqual([]);
    expect(seen().input).toHaveLength(3);
  });

  test("a conversation beyond the largest body: 413", async () => {
    const first = await ask({ input: "x".repeat(19_000) });
    const next = await ask({ input: "y".repeat(2000), previous_response_id: first.json.id });
    expect([next.status, next.json.error.code]).toEqual([413, "payload_too_large"]);
  });
});
