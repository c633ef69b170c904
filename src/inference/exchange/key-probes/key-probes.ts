/**
 * The gateway's own questions to providers about keys that calls make look refused: whether the provider accepts the key at an endpoint.
 * One short sentence of the gateway's, one token of answer; it is no tenant's call, so nothing is charged, held or recorded for anybody.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Endpoint, ProviderKey } from "../../../base/endpoint.ts";
import { WeirError } from "../../../base/errors.ts";
import type { Health } from "../../../routing/health/health.ts";
import type { KeyResult } from "../../../routing/health/refused-keys.ts";
import type { ClientRequest, Passage } from "../../../wire/format.ts";
import { FORMATS } from "../../../wire/formats.ts";
import { unframed } from "../../../wire/forms/unframed.ts";
import type { UpstreamError } from "../../../wire/neutral/contract.ts";
import { canAnswer, passageTo } from "../../../wire/passages.ts";
import { answerFailure, reportedFailure } from "../../upstream/failure.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { Bodies, Sender } from "../body/bodies.ts";

export interface KeyProbesDeps {
  readonly clock: Clock;
  readonly bodies: Pick<Bodies, "read" | "write">;
  readonly upstreams: Pick<Upstreams, "ask">;
  readonly health: Pick<Health, "onSuspicion" | "probed">;
  readonly log: { warn(fields: object, message: string): void };
}

/** How many questions ended so since the start. */
export type KeyProbeCounts = Record<"accepted" | "refused" | "unknown", number>;

/** Asks whenever health suspects a key, tells it what was found, and the operator's log of refusals. */
export function openKeyProbes(deps: KeyProbesDeps): { readonly counts: () => Readonly<KeyProbeCounts> } {
  const { health, log } = deps;
  const counts: KeyProbeCounts = { accepted: 0, refused: 0, unknown: 0 };

  async function ask(endpoint: Endpoint, key: ProviderKey): Promise<void> {
    const found = await probeKey(deps, endpoint, key).catch((err: unknown) => {
      log.warn({ err, endpoint: endpoint.id }, "a provider could not be asked about a key");
      return undefined;
    });
    const isRefused = found?.errorClass === "auth";
    counts[found === undefined ? "unknown" : isRefused ? "refused" : "accepted"] += 1;
    health.probed(endpoint, key, found);
    if (!isRefused) return;
    const { id: keyId, hint } = key;
    const { httpStatus } = found;
    log.warn({ endpoint: endpoint.id, keyId, hint, httpStatus }, "a provider refuses a key of the gateway");
  }

  health.onSuspicion((endpoint, key) => void ask(endpoint, key));
  return { counts: () => counts };
}

/** A provider that refuses a key says so at once. */
const TIMEOUT_MS = 5_000;
const WORD = "Hi";

/** No org asks: what would have to be replaced is not in the question. */
const NO_ORG: Sender = { orgId: "", billed: "platform" };

/** By what the endpoint is asked to do; the first that it can answer is asked. */
const QUESTIONS = {
  generate: [
    [FORMATS.chat, { messages: [{ role: "user", content: WORD }], max_tokens: 1 }],
    [FORMATS.completions, { prompt: WORD, max_tokens: 1 }],
  ],
  embed: [[FORMATS.embeddings, { input: WORD }]],
  rerank: [[FORMATS.rerank, { query: WORD, documents: [WORD] }]],
} as const;

/**
 * @returns undefined where nothing was found out: no answer, or a failure that has nothing to do with the key
 * @throws errors in writing the question
 */
async function probeKey(
  { clock, bodies, upstreams }: KeyProbesDeps,
  endpoint: Endpoint,
  key: ProviderKey,
): Promise<KeyResult | undefined> {
  const question = QUESTIONS[endpoint.task].find(([format]) => canAnswer(format, endpoint));
  const passable = question && passageTo(question[0], endpoint);
  if (question === undefined || passable === undefined) return undefined;
  const [format, asked] = question;
  const body = Buffer.from(JSON.stringify({ model: endpoint.model, ...asked }));
  const request = await bodies.read(format, body);
  const { parts } = await bodies.write(format, passable, request, endpoint, NO_ORG);
  const act = endpoint.task === "generate" ? "call" : endpoint.task;
  const sent = { endpoint, key, dialect: passable.dialect, act, parts, headers: {} } as const;
  const answer = await upstreams.ask({ ...sent, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
  if (answer === undefined) return undefined;
  const { status, headers, body: refusal } = answer;
  const isAnswer = status >= 200 && status < 300;
  const told = isAnswer ? errorIn(refusal, passable.passage, request, clock) : undefined;
  if (isAnswer && told === undefined) return { outcome: "ok", errorClass: "", httpStatus: status };
  const failed =
    told === undefined ? answerFailure(status, headers, refusal, clock.now()) : reportedFailure(told, status);
  const { errorClass } = failed;
  // A key that is told to wait, or whose request is at fault, was accepted.
  return errorClass === "auth" || errorClass === "client" || errorClass === "capacity" ? failed : undefined;
}

/** An error that comes with status 200, as some providers say that an account has no funds. What cannot be read says nothing of the key. */
function errorIn(
  body: Buffer,
  passage: Passage,
  request: ClientRequest,
  clock: Clock,
): UpstreamError | undefined {
  const names = { id: "", requestId: "", model: "", createdS: 0, clock };
  try {
    return passage.whole(unframed(body), request, {
      ...names,
      maxEventBytes: body.length,
      maxCaptureBytes: 0,
    }).error;
  } catch (error) {
    if (error instanceof WeirError) return undefined;
    throw error;
  }
}
