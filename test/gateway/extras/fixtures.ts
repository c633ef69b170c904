/** A gateway with endpoints of every dialect, without prices of extras, with them, and of the org's own keys; and calls to it. */
import { afterAll, beforeAll, expect } from "vitest";
import { type Answer, type TestEndpoint, type TestGateway, testGateway } from "../../support/gateway.ts";
import { startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";

export type Json = Record<string, unknown>;

export const PRICE = {
  input: 1,
  output: 2,
  cache_read: 0.5,
  tiers: {
    priority: { input: 10, output: 20, cache_read: 5 },
    flex: { input: 0.5, output: 1 },
    fast: { input: 6, output: 12 },
    us: { input: 1.1, output: 2.2 },
    "fast+us": { input: 6.6, output: 13.2 },
  },
  server_tools: {
    web_search: 10,
    web_fetch: 0,
    code_interpreter: 30,
    code_execution: 50,
    web_search_options: 25,
  },
};
const PLAIN = { input: 1, output: 2 };

const at = (
  provider: string,
  dialect: string,
  price: object,
  more: Partial<TestEndpoint> = {},
): TestEndpoint => ({
  provider,
  dialects: [dialect],
  entry: { price, context: 50_000, max_output: 4_000 },
  ...more,
});

const DIALECTS = ["chat", "responses", "messages", "converse", "gemini"] as const;
export type DialectName = (typeof DIALECTS)[number];

/** The org's own key is refused there, and the platform's answers. */
export const REFUSED = "sk-refused-0123456789abcdef";

/** Its only credential is the org's. */
const own = { isReal: true, credentialEnv: "EXTRAS_TEST_NEVER_SET" };

/** Open while the tests of the file run that has called `startExtras`. */
export let gateway: TestGateway;
export let server: TestProvider;
/** For the tests of the file that calls it: files may share this one. */
export function startExtras(): void {
  beforeAll(async () => {
    process.env.EXTRAS_TEST_PLATFORM = "sk-platform-0123456789abcdef";
    server = await startProvider();
    server.answer = ({ headers }, response) => {
      const isRefused = String(headers.authorization).includes(REFUSED);
      response.writeHead(isRefused ? 401 : 200, { "content-type": "application/json" });
      response.end(isRefused ? '{"error":{"message":"no"}}' : COMPLETION);
    };
    const mixed = { isReal: true, credentialEnv: "EXTRAS_TEST_PLATFORM", baseUrl: `${server.url}/v1` };
    gateway = await testGateway({
      endpoints: [at("mixed-chat", "chat", PLAIN, mixed)].concat(
        DIALECTS.flatMap((dialect) => [
          at(`plain-${dialect}`, dialect, PLAIN),
          at(`priced-${dialect}`, dialect, PRICE),
          at(`own-${dialect}`, dialect, PLAIN, own),
        ]),
      ),
    });
    for (const dialect of DIALECTS) {
      const body = { provider: `own-${dialect}`, credential: "sk-own-0123456789abcdef" };
      const added = await gateway.call("POST", "/v1/provider-keys", { body });
      expect(added.status, added.text).toBe(201);
    }
  });
  afterAll(async () => {
    delete process.env.EXTRAS_TEST_PLATFORM;
    await gateway.stop();
    await server.close();
  });
}

const COMPLETION = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

interface Format {
  readonly path: string;
  readonly body: Json;
}

const turns = (text: string) => [{ role: "user", content: text }];
const FORMATS = {
  chat: (text: string): Format => ({
    path: "/v1/chat/completions",
    body: { messages: turns(text), max_tokens: 50 },
  }),
  responses: (text: string): Format => ({
    path: "/v1/responses",
    body: { input: text, max_output_tokens: 50 },
  }),
  messages: (text: string): Format => ({
    path: "/v1/messages",
    body: { messages: turns(text), max_tokens: 50 },
  }),
  generate: (text: string): Format => ({
    path: "/v1/svc/generate",
    body: { messages: turns(text), generation: { max_tokens: 50 } },
  }),
};
export type FormatName = keyof typeof FORMATS;

interface Asking {
  readonly svc?: Json;
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

export async function ask(
  format: FormatName,
  provider: string,
  members: Json,
  { svc = {}, text = "Hello", headers = {} }: Asking = {},
): Promise<Answer & { sent: Json; sentHeaders: Record<string, unknown>; calls: number }> {
  const { path, body } = FORMATS[format](text);
  const before = gateway.simulator.calls.length;
  const ours = { route: { providers: { only: [provider] } }, ...svc };
  const whole = {
    model: "test/model",
    ...body,
    ...members,
    ...(format === "generate" ? ours : { svc: ours }),
  };
  const answer = await gateway.call("POST", path, {
    body: whole,
    headers: { "anthropic-version": "2023-06-01", ...headers },
  });
  const made = gateway.simulator.calls.slice(before);
  const last = made.at(-1);
  return {
    ...answer,
    calls: made.length,
    sent: last === undefined ? {} : JSON.parse(last.body.toString()),
    sentHeaders: (last?.headers ?? {}) as Record<string, unknown>,
  };
}

export interface Told {
  readonly cost: { readonly total_micro_usd: number; readonly lines: readonly Json[] };
  readonly warnings: readonly string[];
}

/** What an answer tells of itself, whole or streamed. */
export function toldOf(answer: Answer): Told {
  if (answer.json !== undefined) return answer.json.svc ?? answer.json;
  const objects = answer.text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)));
  for (const object of objects.reverse()) {
    const told = object.svc ?? object.response?.svc ?? (object.cost && object);
    if (told !== undefined) return told;
  }
  throw new Error(`tells nothing: ${answer.text}`);
}

export const tool = (type: string, more: Json = {}): Json => ({ tools: [{ type, ...more }] });
export const FUNCTION = { type: "function", name: "f", parameters: { type: "object", properties: {} } };

export const isStreamed = [
  ["whole", {}],
  ["streamed", { stream: true }],
] as const;
