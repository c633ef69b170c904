/** A firewall before a provider: its page is no refusal of the credential, and its title reaches the client. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { attemptsOf, recordOf, requestIdOf } from "../../../support/observations.ts";
import { startProvider, type TestProvider } from "../../../support/upstream/fixtures.ts";

const PAGE = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>10.0.0.7</body></html>";
const COMPLETION = {
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

let provider: TestProvider;
let gateway: TestGateway;
beforeAll(async () => {
  vi.stubEnv("KEY_BEHIND_A_WALL", "sk-behind-a-wall");
  provider = await startProvider();
  provider.answer = (_, response) =>
    response
      .writeHead(403, { "content-type": "text/html", server: "cloudflare", "cf-mitigated": "challenge" })
      .end(PAGE);
  gateway = await testGateway({
    endpoints: [
      { provider: "walled", baseUrl: `${provider.url}/v1`, credentialEnv: "KEY_BEHIND_A_WALL" },
      { provider: "well", instruction: {} },
    ],
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await gateway?.stop();
  await provider?.close();
});

const routed = (providers: object) => ({ svc: { route: { providers } } });
const BODIES = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "Hello" }] },
  "/v1/messages": { messages: [{ role: "user", content: "Hello" }], max_tokens: 9 },
  "/v1/responses": { input: "Hello", store: false },
};

test.each(Object.entries(BODIES))(
  "%s: another endpoint answers, else the client hears the title",
  async (path, body) => {
    for (const stream of [false, true]) {
      const ask = (providers: object) =>
        gateway.call("POST", path, { body: { model: "test/model", ...body, stream, ...routed(providers) } });
      const answered = await ask({ order: ["walled", "well"] });
      expect(answered.status).toBe(200);
      expect(attemptsOf(await recordOf(gateway, requestIdOf(answered)))).toEqual([
        "http_error 403 server",
        "ok 200",
      ]);
      const refused = await ask({ only: ["walled"] });
      expect(refused.status).toBe(502);
      expect(refused.text).toContain(
        "A firewall before the provider behind test/model refused the call: Just a moment...",
      );
      expect(refused.text).not.toContain("10.0.0.7");
    }
  },
);

test("no key rests behind it", async () => {
  provider.answer = (_, response) => response.end(JSON.stringify(COMPLETION));
  const asked = provider.asked.length;
  const answer = await gateway.chat({ model: "test/model", ...routed({ only: ["walled"] }) });
  expect([answer.status, provider.asked.length - asked]).toEqual([200, 1]);
  const metrics = await gateway.call("GET", "/metrics");
  expect(metrics.text).toMatch(/weir_upstream_refusals_total\{[^}]*row="http\.firewall"[^}]*\} 12/);
  expect(metrics.text).not.toMatch(/weir_key_probes_total\{[^}]*\} [1-9]/);
});
