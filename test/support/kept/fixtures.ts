/** What the tests of the quota of kept bytes share: small quotas, and what `GET /v1/limits` says of them. */
import type { Answer, TestGateway } from "../gateway.ts";

/** Quota of test keys in these tests. */
export const MAX_TEST = 100_000;
export const MAX_LIVE = 1_000_000;
/** The small answers of the simulator need no more. */
const MOST_OF_ONE = 20_000;

export const SETTINGS = {
  limits: {
    max_kept_bytes: MAX_LIVE,
    max_kept_test_bytes: MAX_TEST,
    max_stored_answer_bytes: MOST_OF_ONE,
    max_payload_bytes: 2_000,
  },
};

export interface KeptPool {
  readonly bytes: number;
  readonly max_bytes: number;
  readonly responses_bytes: number;
  readonly answers_bytes: number;
  readonly payloads_bytes: number;
}

export const keptOf = async (gateway: TestGateway, pool: "live" | "test"): Promise<KeptPool> =>
  (await gateway.call("GET", "/v1/limits")).json.kept[pool];

let used = 0;
export const newKey = () => ({ "idempotency-key": `kept-${++used}` });

export const PROSE = "Water finds its own level. ".repeat(40);
const user = (content: string) => [{ role: "user", content }];
const sized = { max_tokens: 20 };

/** A good call of every route whose answers are kept for an `Idempotency-Key`. */
export const ROUTES: readonly (readonly [path: string, body: Record<string, unknown>, streams: boolean])[] = [
  ["/v1/chat/completions", { model: "weir/sim-small", ...sized, messages: user(PROSE) }, true],
  ["/v1/completions", { model: "weir/sim-small", ...sized, prompt: PROSE }, true],
  ["/v1/responses", { model: "weir/sim-small", max_output_tokens: 20, input: PROSE }, true],
  ["/v1/messages", { model: "weir/sim-small", ...sized, messages: user(PROSE) }, true],
  ["/v1/svc/generate", { model: "weir/sim-small", messages: user(PROSE) }, true],
  ["/v1/embeddings", { model: "weir/sim-embed", input: PROSE }, false],
  ["/v1/svc/embed", { model: "weir/sim-embed", input: [PROSE] }, false],
  ["/v1/svc/rerank", { model: "weir/sim-rerank", query: "Hi", documents: [PROSE, "Ho"] }, false],
];

export const WAYS = ROUTES.flatMap(([path, body, streams]) => [
  [`${path}, whole`, path, body] as const,
  ...(streams ? [[`${path}, streamed`, path, { ...body, stream: true }] as const] : []),
]);

/** A response that the gateway keeps, of some kilobytes. */
export const respond = (
  gateway: TestGateway,
  more: Record<string, unknown> = {},
  options: { key?: string; headers?: object } = {},
): Promise<Answer> =>
  gateway.call("POST", "/v1/responses", {
    body: { model: "weir/sim-small", max_output_tokens: 20, input: PROSE, ...more },
    ...options,
  });

/** Stores responses until none fits, and then small answers. @returns the responses with status 200, and the refusal of the last */
export async function fill(
  gateway: TestGateway,
  key: string,
): Promise<{ readonly stored: Answer[]; readonly refused: Answer }> {
  const stored: Answer[] = [];
  for (let at = 0; at < 1000; at++) {
    const answer = await respond(gateway, { store: true }, { key });
    if (answer.status === 200) stored.push(answer);
    else {
      await fillWithAnswers(gateway, key);
      return { stored, refused: answer };
    }
  }
  throw new Error("a thousand responses were stored");
}

/** Has small answers kept until none fits. */
export async function fillWithAnswers(gateway: TestGateway, key: string): Promise<void> {
  const body = { model: "weir/sim-small", max_tokens: 1, messages: user("Hi") };
  for (let at = 0; at < 1000; at++) {
    const { status } = await gateway.call("POST", "/v1/chat/completions", { body, key, headers: newKey() });
    if (status !== 200) return;
  }
  throw new Error("a thousand answers were kept");
}
