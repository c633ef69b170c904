/**
 * No recorded request costs the platform more than it charges: the requests and answers of the fixtures, at endpoints with and
 * without prices of extras, against a model of the provider's bill that knows nothing of the gateway.
 */
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { type Asked, startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";
import { SHAPES, type Shape } from "../shapes/fixtures.ts";

const TOKENS = { input: 1, output: 2, cache_read: 0.5, cache_write: 1.25, cache_write_1h: 2 };
/** USD per 1,000 uses. */
const TOOLS: Readonly<Record<string, number>> = {
  web_search: 10,
  web_search_options: 25,
  live_search: 25,
  code_execution: 50,
  mcp: 1,
  web_fetch: 1,
};

type Json = Record<string, unknown>;
const objectOf = (value: unknown): Json =>
  typeof value === "object" && value !== null ? (value as Json) : {};
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Searches that a provider bills, by what was sent and what was answered. The published price lists in short. */
function billedUses(sent: Json, answer: Json): Record<string, number> {
  const usage = objectOf(answer.usage);
  const output = Array.isArray(answer.output) ? answer.output.map(objectOf) : [];
  const told = objectOf(usage.server_tool_use);
  const searches =
    numberOf(told.web_search_requests) +
    output.filter(({ type, action }) => type === "web_search_call" && objectOf(action).type === "search")
      .length;
  return {
    web_search: searches || (sent.plugins === undefined ? 0 : 1),
    web_search_options: sent.web_search_options === undefined ? 0 : 1,
    live_search: sent.search_parameters === undefined ? 0 : numberOf(usage.num_sources_used),
  };
}

/** Micro-USD, for a request as it was received and its answer: tokens by the list, and uses. */
function billOf({ metered }: Shape, sent: Json, answer: Json): number {
  const { input = 0, output = 0, cache_read = 0, cache_write = 0 } = metered;
  const tokens =
    input * TOKENS.input +
    output * TOKENS.output +
    cache_read * TOKENS.cache_read +
    cache_write * TOKENS.cache_write;
  const uses = Object.entries(billedUses(sent, answer)).map(
    ([tool, count]) => count * (TOOLS[tool] ?? 0) * 1000,
  );
  return tokens + uses.reduce((sum, micro) => sum + micro, 0);
}

let server: TestProvider;
let gateway: TestGateway;
beforeAll(async () => {
  server = await startProvider();
  server.answer = (asked, response) => play(asked, response);
  const at = (shape: Shape, kind: string, price: object) => ({
    provider: `${kind}-${shape.name}`,
    baseUrl: `${server.url}/${shape.name}/v1`,
    dialects: [shape.dialect],
    entry: { price },
  });
  gateway = await testGateway({
    endpoints: SHAPES.flatMap((shape) => [
      at(shape, "plain", TOKENS),
      at(shape, "priced", { ...TOKENS, server_tools: TOOLS }),
    ]),
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.close();
});

/** A provider runs its tools only if it is asked for them: else its answer shows no use of them. */
function play({ path, body }: Asked, response: ServerResponse): void {
  const shape = SHAPES.find(({ name }) => path.startsWith(`/${name}/`));
  if (shape === undefined) throw new Error(`no provider at ${path}`);
  const isStream = JSON.parse(body).stream === true;
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  response.end(isStream ? shape.stream : shape.reply);
}

const ASKS = ["web_search_options", "plugins", "search_parameters", "mcp_servers", "container"];
const asksFor = (sent: Json): boolean =>
  ASKS.some((name) => sent[name] !== undefined) ||
  (Array.isArray(sent.tools) &&
    sent.tools.some((tool) => /search|code_exec|mcp/.test(String(objectOf(tool).type))));

describe.each(SHAPES.map((shape) => [shape.name, shape] as const))("%s", (_, shape) => {
  test.each(["plain", "priced"])(
    "S3: costs no more than is charged, at an endpoint that is %s",
    async (kind) => {
      for (const stream of [false, true]) {
        server.asked.length = 0;
        const svc = { route: { providers: { only: [`${kind}-${shape.name}`] } } };
        const body = { model: "test/model", ...JSON.parse(shape.request), ...(stream && { stream }), svc };
        const answer = await gateway.call("POST", shape.path, {
          body,
          headers: { "anthropic-version": "2023-06-01" },
        });
        expect(answer.status, answer.text).toBe(200);
        const sent = JSON.parse(server.asked[0]?.body ?? "{}");
        const total = Number(/"total_micro_usd":(\d+)/.exec(answer.text)?.[1]);
        // Where it is not asked for tools, a provider bills none, whatever this recorded answer holds.
        const reply = asksFor(sent) ? JSON.parse(shape.reply) : {};
        if (kind === "plain") expect(asksFor(sent)).toBe(false);
        // Each line is rounded by itself, by half a micro at the most.
        expect(total + 4).toBeGreaterThanOrEqual(billOf(shape, sent, reply));
      }
    },
  );
});
