/** Background responses of tests: one model for each upstream dialect, a gateway of these, and what is read of a response until it has ended. */
import type OpenAI from "openai";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type Answer, type TestEndpoint, type TestGateway, testGateway } from "../gateway.ts";
import { atRest } from "../observations.ts";
import { until } from "../wait.ts";

export const DIALECTS = ["chat", "messages", "responses", "gemini", "converse"] as const;

/** The model whose only endpoint speaks the dialect. */
export const modelOf = (dialect: string): string => `test/${dialect}`;

const CLAUDE = { upstream_model: "anthropic.claude-sim" };

export const ENDPOINTS: readonly TestEndpoint[] = DIALECTS.map((dialect) => ({
  model: modelOf(dialect),
  provider: `speaks-${dialect}`,
  dialects: [dialect],
  ...(dialect === "converse" && { entry: CLAUDE }),
}));

interface BackgroundGateway {
  readonly gateway: TestGateway;
  readonly openai: OpenAI;
}

/**
 * For the head of a file: a gateway whose streams have events alone, no comments, and where no call runs behind a test. What it returns
 * is filled in before the file's first test.
 * @param more endpoints beside those of the dialects, and limits
 */
export function backgroundGateway(
  more: { readonly endpoints?: readonly TestEndpoint[]; readonly limits?: Record<string, number> } = {},
): BackgroundGateway {
  const { endpoints = [], limits = {} } = more;
  const own = {} as { gateway: TestGateway; openai: OpenAI };
  beforeAll(async () => {
    own.gateway = await testGateway({
      endpoints: [...ENDPOINTS, ...endpoints],
      settings: { timeouts: { keep_alive_ms: 0 }, limits },
    });
    own.openai = own.gateway.openai();
  });
  afterAll(() => own.gateway?.stop());
  afterEach(() => atRest(own.gateway));
  return own;
}

/** So slowly told that it runs until it is ended. */
export const ENDLESS = "Tell [[sim tokens=100000 gap_ms=20]]";
/** Some moments of an upstream's time. */
export const SHORT = "Tell [[sim tokens=20 gap_ms=5]]";

export const RUNNING: readonly unknown[] = ["queued", "in_progress"];

type Reached = Pick<TestGateway, "call">;

/** The response once it has ended, as its client polls for it. */
export const polled = (openai: OpenAI, id: string): Promise<OpenAI.Responses.Response> =>
  until(
    "the response has ended",
    () => openai.responses.retrieve(id),
    ({ status }) => !RUNNING.includes(status),
  );

export const endOf = (gateway: Reached, id: string): Promise<Answer> =>
  until(
    "the response has ended",
    () => gateway.call("GET", `/v1/responses/${id}`),
    ({ json }) => !RUNNING.includes(json.status),
  );

export const begin = (
  gateway: Reached,
  body: Record<string, unknown> = {},
  options: { readonly key?: string; readonly headers?: object } = {},
): Promise<Answer> =>
  gateway.call("POST", "/v1/responses", {
    body: { model: "test/chat", input: SHORT, background: true, ...body },
    ...options,
  });

/** Resolves once a response has said so many events. */
export async function hasSaid(gateway: TestGateway, id: string, events: number): Promise<void> {
  const going = new AbortController();
  const response = await fetch(`${gateway.url}/v1/responses/${id}?stream=true`, {
    headers: { authorization: `Bearer ${gateway.liveKey}` },
    signal: going.signal,
  });
  let text = "";
  for await (const bytes of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(bytes).toString("latin1");
    if (text.split("\n\n").length > events) break;
  }
  going.abort();
}
