/** The numbers of a responses stream's events: an error event continues them, wherever the stream ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sseData, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { addOrgs } from "../../../support/money/orgs.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-sequence-"));
/** Micro-USD a token. */
const price = { input: 1, output: 2 };
const FAULTS = ["reset_mid", "close_mid", "cut_mid", "error_mid", "none"] as const;
const WAYS = ["responses", "chat", "messages"] as const;
const options = {
  folder,
  endpoints: WAYS.flatMap((dialect) =>
    FAULTS.map((fault) => ({
      provider: `${dialect}-${fault.replace("_", "-")}`,
      dialects: [dialect],
      price,
      instruction: {
        tokens: fault === "none" ? 400 : 20,
        gap_ms: 1,
        ...(fault !== "none" && { fault, after: 9 }),
      },
    })),
  ),
  settings: { limits: { default_max_tokens: 60 } },
};
let gateway: TestGateway;
let poor: Record<(typeof WAYS)[number], string>;

beforeAll(async () => {
  await (await testGateway({ ...options, cells: 0 })).stop();
  const few = { creditMicroUsd: 500 };
  poor = await addOrgs(folder, { responses: few, chat: few, messages: few });
  gateway = await testGateway(options);
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const body = (provider: string) => ({
  model: "test/model",
  input: "Count.",
  stream: true as const,
  svc: { route: { providers: { only: [provider] } } },
});

interface Numbered {
  readonly type: string;
  readonly sequence_number: number;
}

async function numbered(provider: string, key: string): Promise<readonly Numbered[]> {
  const { text } = await gateway.call("POST", "/v1/responses", { body: body(provider), key });
  const data = text.split("\n\n").map((event) => event.replace(/^event: .*\n/, ""));
  return sseData(data.join("\n\n")) as Numbered[];
}

function expectNoGap(events: readonly Numbered[]): void {
  expect(events.length).toBeGreaterThan(6);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
  expect(events.at(-1)?.type).toBe("error");
}

describe.each(WAYS)("a stream from an upstream of %s", (way) => {
  test.each(["reset-mid", "close-mid", "cut-mid", "error-mid"])(
    "O28: that breaks (%s): the error event has the next number",
    async (fault) => {
      expectNoGap(await numbered(`${way}-${fault}`, gateway.liveKey));
    },
  );

  test("O28: that outlives the credit: the error event has the number behind what was delivered", async () => {
    const events = await numbered(`${way}-none`, poor[way]);
    expectNoGap(events);
    expect(events.at(-1)).toMatchObject({ code: "insufficient_credits" });
  });

  test("O28: the official SDK's stream helper throws it as an error of the API", async () => {
    const client = new OpenAI({ apiKey: gateway.liveKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const stream = client.responses.stream(body(`${way}-reset-mid`));
    await expect(stream.finalResponse()).rejects.toBeInstanceOf(OpenAI.APIError);
  });
});
