/**
 * Comment lines while an upstream is silent: before its head, before its first event and between events; only between
 * events; and what may still happen after one has opened the stream. Silence here is 0.6 s instead of 10.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../../src/host/settings/config.ts";
import { sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, attemptsOf, charges, recordOf, requestIdOf, start } from "../../support/observations.ts";

const COMMENT = ": keep-alive\n\n";
/** Two looks of the sweep, which comes once a second, and some. */
const SILENT_MS = 2300;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "late", instruction: { first_ms: SILENT_MS, tokens: 3 } },
      { provider: "head-only", instruction: { header_then_ms: SILENT_MS, tokens: 3 } },
      // The second cut falls inside an event: half of it is there during the silence.
      { provider: "pauses", instruction: { tokens: 3, split: [600], gap_ms: SILENT_MS } },
      { provider: "late-500", instruction: { first_ms: SILENT_MS, status: 500 } },
      {
        provider: "late-400",
        instruction: { first_ms: SILENT_MS, status: 400, error_message: "No such thing." },
      },
      { provider: "late-reset", instruction: { first_ms: SILENT_MS, fault: "reset" } },
      { provider: "good", instruction: { tokens: 3 } },
    ],
    settings: { timeouts: { keep_alive_ms: 600 } },
  });
});
afterAll(() => gateway?.stop());

async function streamed(providers: readonly string[], of = gateway) {
  const response = await start(of, {
    stream: true,
    svc: { route: { providers: { order: providers, only: providers } } },
  });
  const text = await response.text();
  return { response, text, record: await recordOf(of, requestIdOf(response)) };
}

const textOf = (stream: string): string =>
  sseData(stream)
    .map((e) => (e as { choices?: { delta: { content?: string } }[] }).choices?.[0]?.delta.content ?? "")
    .join("");

describe.concurrent("while an upstream is silent", () => {
  test.each([
    ["before its head", "late"],
    ["after its head, before its first event", "head-only"],
    ["between the halves of an event", "pauses"],
  ])(
    "T7, T8: %s, comment lines arrive, whole and between events, and the answer after them",
    async (_, provider) => {
      const { response, text, record } = await streamed([provider]);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      const parts = text.split("\n\n");
      expect(parts.pop()).toBe("");
      for (const part of parts) expect(part === ": keep-alive" || part.startsWith("data: ")).toBe(true);
      expect(parts.filter((part) => part === ": keep-alive").length).toBeGreaterThanOrEqual(1);
      if (provider !== "pauses") expect(text.startsWith(COMMENT)).toBe(true);
      expect(textOf(text).split(" ")).toHaveLength(3);
      expect(parts.at(-1)).toBe("data: [DONE]");
      // A comment is no token: the first of those came after the silence.
      if (provider !== "pauses") expect(record.ttft_ms).toBeGreaterThanOrEqual(SILENT_MS - 100);
      expect(attemptsOf(record)).toEqual(["ok 200"]);
    },
  );

  test.each([
    ["late-500", "upstream_error", "The provider behind test/model failed."],
    ["late-400", "upstream_rejected", "No such thing."],
    ["late-reset", "upstream_error", "The provider behind test/model failed."],
  ])(
    "T7, T13: after a comment has opened the stream, the failure of %s comes as an event",
    async (provider, code, message) => {
      const { response, text, record } = await streamed([provider]);
      expect(response.status).toBe(200);
      expect(text.startsWith(COMMENT)).toBe(true);
      expect(sseData(text)).toMatchObject([{ error: { code, message, request_id: record.request_id } }]);
      expect(record).toMatchObject({
        status: "error",
        error_code: code,
        http_status: 200,
        cost_micro: 0,
        ttft_ms: 0,
      });
      expect((await charges(gateway)).get(record.request_id)).toBeUndefined();
    },
  );

  test("T7, T15: a comment is no content: another endpoint still may answer", async () => {
    const { text, record } = await streamed(["late-500", "good"]);
    expect(text.startsWith(COMMENT)).toBe(true);
    expect(attemptsOf(record)).toEqual(["http_error 500 server", "ok 200"]);
    expect(textOf(text).split(" ")).toHaveLength(3);
    expect(text.match(/chatcmpl-\w+/g)?.every((id) => id === `chatcmpl-${record.request_id}`)).toBe(true);
    expect(record.provider).toBe("good");
  });

  test("a call that is not streamed gets its answer and nothing before it", async () => {
    const answer = await gateway.chat({
      model: "test/model",
      svc: { route: { providers: { only: ["late"] } } },
    });
    expect(answer.status).toBe(200);
    expect(answer.text.startsWith("{")).toBe(true);
  });

  test("T7: by default a line every 10 s at the latest, checked every second; 0 switches them off", async () => {
    expect(readConfig({ CONFIG_DIR: import.meta.dirname }).settings.timeouts.keep_alive_ms).toBe(10_000);
    const quiet = await testGateway({
      endpoints: [{ provider: "late", instruction: { first_ms: SILENT_MS, tokens: 3 } }],
      settings: { timeouts: { keep_alive_ms: 0 } },
    });
    try {
      const { text } = await streamed(["late"], quiet);
      expect(text).not.toMatch(/^:/m);
      expect(text.startsWith("data:")).toBe(true);
    } finally {
      await quiet.stop();
    }
  });
});

test("T65: nothing stays taken", () => atRest(gateway));
