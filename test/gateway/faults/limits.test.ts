/**
 * What a provider says of its limits, through the whole gateway: its words and code reach the caller, a request that is too large
 * for it shuts nobody else out, and a rest is over at the first content of the call that tries.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { events, type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, attemptsOf, recordOf, requestIdOf, start } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

const DIALECTS = ["chat", "responses", "messages", "gemini", "converse"] as const;
const ORG = "org-AbCdEfGh12345678";
const BUSY = `Rate limit reached for m in organization ${ORG} on requests per min (RPM): Limit 3, Used 3, Requested 1.`;
const LARGE = `Request too large for m in organization ${ORG} on tokens per min (TPM): Limit 30000, Requested 36278.`;
const NO_FUNDS = "You exceeded your current quota, please check your plan and billing details.";

/** The same question in each format that clients speak. */
const ROUTES = {
  chat: ["/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
  responses: ["/v1/responses", { input: "Hi" }],
  messages: ["/v1/messages", { max_tokens: 20, messages: [{ role: "user", content: "Hi" }] }],
  generate: ["/v1/svc/generate", { messages: [{ role: "user", content: "Hi" }] }],
} as const;
type Format = keyof typeof ROUTES;

function ask(
  gateway: TestGateway,
  format: Format,
  only: readonly string[],
  stream: boolean,
  extra: object = {},
) {
  const [path, body] = ROUTES[format];
  const route = { providers: { only } };
  const options = format === "generate" ? { route } : { svc: { route } };
  return gateway.call("POST", path, { body: { model: "test/model", stream, ...body, ...options, ...extra } });
}

const codeOf = (error: Record<string, unknown>): unknown => error.code;

describe("429 of a provider", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const says = (message: string, code: string) => ({
      status: 429,
      error_message: message,
      error_code: code,
      error_type: "tokens",
    });
    gateway = await testGateway({
      endpoints: [
        ...DIALECTS.flatMap((dialect) => [
          ...[true, false].map((stream) => ({
            provider: `busy-${dialect}-${stream}`,
            dialects: [dialect],
            instruction: { ...says(BUSY, "rate_limit_exceeded"), retry_after: 7 },
          })),
          {
            provider: `large-${dialect}`,
            dialects: [dialect],
            instruction: says(LARGE, "rate_limit_exceeded"),
          },
        ]),
        { provider: "busy-too", instruction: { ...says(BUSY, "rate_limit_exceeded"), retry_after: 60 } },
        { provider: "broke", instruction: says(NO_FUNDS, "insufficient_quota"), credentialEnv: "PATH" },
        { provider: "free" },
      ],
    });
  });
  afterAll(() => gateway?.stop());

  test.each(DIALECTS.flatMap((dialect) => [true, false].map((stream) => ({ dialect, stream }))))(
    "O26: $dialect, stream $stream: the provider's message and code, and when to come back",
    async ({ dialect, stream }) => {
      const { status, json, headers } = await ask(gateway, "chat", [`busy-${dialect}-${stream}`], stream);
      expect(status).toBe(429);
      expect(json.error).toMatchObject({ type: "rate_limited", code: "upstream_capacity" });
      expect(json.error.message).toBe(BUSY.replace(ORG, "[account]"));
      expect(json.error.details.upstream_code).toMatch(dialect === "chat" ? /^rate_limit_exceeded$/ : /./);
      expect([json.error.retry_after_ms, headers.get("retry-after")]).toEqual([7000, "7"]);
      expect(headers.get("x-should-retry")).toBeNull();
    },
  );

  test.each(
    DIALECTS.flatMap((dialect) =>
      (Object.keys(ROUTES) as Format[]).flatMap((format) =>
        [true, false].map((stream) => ({ dialect, format, stream })),
      ),
    ),
  )(
    "O26: $format to $dialect, stream $stream: too large for the tier is not to be repeated, and shuts nobody out",
    async ({ dialect, format, stream }) => {
      const only = [`large-${dialect}`];
      const first = await ask(gateway, format, only, stream);
      const again = await ask(gateway, format, only, stream);
      for (const { status, json, headers, text } of [first, again]) {
        expect(status).toBe(429);
        expect(codeOf(json.error)).toBe("upstream_capacity");
        expect(json.error.message).toBe(LARGE.replace(ORG, "[account]"));
        expect(headers.get("x-should-retry")).toBe("false");
        expect(text).not.toContain(ORG);
      }
      const record = await recordOf(gateway, requestIdOf(again));
      expect(attemptsOf(record)).toEqual(["rate_limited 429 client"]);
      expect(JSON.stringify(record)).not.toContain(ORG);
    },
  );

  test("O26: another endpoint is asked where the first is too small, and one that is only busy may be asked again", async () => {
    const order = {
      svc: { route: { providers: { order: ["large-chat", "free"], only: ["large-chat", "free"] } } },
    };
    const served = await gateway.chat({ model: "test/model", ...order });
    expect(served.status).toBe(200);
    expect(attemptsOf(await recordOf(gateway, requestIdOf(served)))).toEqual([
      "rate_limited 429 client",
      "ok 200",
    ]);
    const both = ["busy-too", "large-chat"];
    for (const providers of [
      { order: both, only: both },
      { order: both.toReversed(), only: both },
    ]) {
      const { status, json, headers } = await gateway.chat({
        model: "test/model",
        svc: { route: { providers } },
      });
      expect(status).toBe(429);
      // The busy one rests at the second call: it may serve this later all the same.
      expect(headers.get("x-should-retry")).toBeNull();
      expect(json.error.message).toMatch(/^(Rate limit|Request too large)/);
    }
  });

  test("O26: an account without funds says so, and is left alone as a refused credential is", async () => {
    const first = await ask(gateway, "chat", ["broke"], false);
    expect(first.status).toBe(429);
    expect(first.json.error).toMatchObject({
      message: NO_FUNDS,
      code: "upstream_capacity",
      details: { upstream_code: "insufficient_quota" },
    });
    expect(first.headers.get("x-should-retry")).toBe("false");
    // The gateway asks the provider itself before it leaves the account alone.
    const next = () => ask(gateway, "chat", ["broke"], false);
    await until("the account is left alone", async () => (await next()).status === 503);
    const { json, headers } = await next();
    expect(json.error.message).toMatch(/refuses the gateway's credential or account/);
    expect(json.error.message).not.toMatch(/saturated/);
    const out = json.error.details.excluded.find((x: { kind: string }) => x.kind === "refused");
    expect(out.endpoint_id).toContain("broke");
    expect(headers.get("x-should-retry")).toBe("false");
  });
});

describe("behind a rest", () => {
  /** One for each try. */
  const HOLLOWS = ["hollow-1", "hollow-2", "hollow-3"] as const;
  let gateway: TestGateway;
  beforeAll(async () => {
    const refuses = { status: 429, retry_after_ms: 300, times: 1 };
    gateway = await testGateway({
      endpoints: [
        { provider: "long", instruction: { ...refuses, tokens: 200, gap_ms: 50, error_message: "long" } },
        ...HOLLOWS.map((provider) => ({
          provider,
          instruction: { fault: "error_first", error_type: "overloaded_error", error_message: provider },
        })),
      ],
    });
  });
  afterAll(() => gateway?.stop());

  test("O18: the first content of one long stream lets the others in, long before its end", async () => {
    const body = { model: "test/model", svc: { route: { providers: { only: ["long"] } } } };
    expect((await gateway.chat({ ...body, stream: true })).status).toBe(429);
    let probe: Response | undefined;
    await until("the rest is over", async () => {
      probe = await start(gateway, { ...body, stream: true });
      if (probe.status !== 200) await probe.text();
      return probe.status === 200;
    });
    const reader = probe?.body?.getReader();
    let text = "";
    while (!text.includes('"content":"')) text += new TextDecoder().decode((await reader?.read())?.value);
    const streams = await Promise.all([1, 2].map(() => start(gateway, { ...body, stream: true })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    // None of the three has ended.
    expect(text).not.toContain("[DONE]");
    await reader?.cancel();
    for (const stream of streams) await stream.body?.cancel();
    await until("all is given back", async () => (await gateway.balance()).held === 0);
  });

  /** What the calls right behind the first and the second refusal were told to wait; undefined: a rest was over before its call. */
  async function waitsAt(provider: string): Promise<number[] | undefined> {
    const body = { model: "test/model", stream: true, svc: { route: { providers: { only: [provider] } } } };
    const waits: number[] = [];
    for (let i = 0; i < 2; i++) {
      await until("the rest is over", async () => {
        const response = await start(gateway, body);
        if (response.status === 200) await events(response);
        else await response.text();
        return response.status === 429;
      });
      const { status, json } = await gateway.chat(body);
      if (status === 429) return undefined;
      expect(status).toBe(503);
      waits.push(json.error.retry_after_ms);
    }
    return waits;
  }

  test("O18, T14: a 200 that turns into an error lets nobody in", async () => {
    let waits: number[] | undefined;
    // The rests are of one and of two seconds: where a late machine has used up most of one, the next endpoint is tried.
    for (const provider of HOLLOWS) {
      waits = await waitsAt(provider);
      if ((waits?.[1] ?? 0) > 1000) break;
    }
    expect(waits?.[0]).toBeLessThanOrEqual(1000);
    // The second rest is the longer one: the head of the 200 was no success.
    expect(waits?.[1]).toBeGreaterThan(1000);
    await atRest(gateway);
  });
});
