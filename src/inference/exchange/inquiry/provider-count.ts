/**
 * Token counts by the providers' own count endpoints. For a client of the provider's own format the request is spliced: its
 * body is passed on with only the model's name changed, and the answer is passed back unchanged. Other formats are
 * translated.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Dialect, Endpoint, ProviderKey } from "../../../base/endpoint.ts";
import { fail, WeirError } from "../../../base/errors.ts";
import { countAnswer, countingDialects } from "../../../wire/count.ts";
import type { UpstreamError } from "../../../wire/neutral/contract.ts";
import { passageTo } from "../../../wire/passages.ts";
import { answerFailure, mayFallBack, withoutCredential } from "../../upstream/failure.ts";
import type { Answer, UpstreamQuestion, Upstreams } from "../../upstream/upstreams.ts";
import type { Bodies, Question } from "../body/bodies.ts";
import { NO_HEADERS } from "../body/letters.ts";
import type { Call, PlannedCall, ReadCall } from "../call.ts";
import { callerError } from "../failure.ts";

export interface ProviderCountDeps {
  readonly clock: Clock;
  readonly bodies: Pick<Bodies, "write" | "question">;
  readonly upstreams: Pick<Upstreams, "does" | "ask" | "proxiesOf">;
}

export interface ProviderCount {
  readonly tokens: number;
  /** Id of the provider. */
  readonly provider: string;
  /** The provider's answer, if the client speaks its format: it may contain more than the number. */
  readonly body: Buffer | undefined;
}

/** Timeout of one count request. */
const ASK_TIMEOUT_MS = 10_000;
/** Timeout of all count requests for one prompt. */
const ASK_ALL_TIMEOUT_MS = 20_000;

/**
 * Asks the endpoints of the plan in order, each with its keys, until one returns a count.
 * @returns undefined if none of them can count, or none has a dialect that can express this prompt
 * @throws WeirError, the same as a call would get, if the endpoints that were asked failed or refused the request
 */
export async function countByProvider(
  deps: ProviderCountDeps,
  call: PlannedCall,
): Promise<ProviderCount | undefined> {
  const { plan } = call;
  const endMs =
    deps.clock.monotonic() + Math.min(plan.decision.timeoutMs ?? ASK_ALL_TIMEOUT_MS, ASK_ALL_TIMEOUT_MS);
  let asksLeft = plan.decision.maxAttempts;
  let failed: WeirError | undefined;
  for (const endpoint of plan.attempts) {
    const route = routeTo(deps, call, endpoint);
    const parts = route && (await questionFor(deps, call, endpoint, route));
    if (route === undefined || parts === undefined) continue;
    if (parts instanceof WeirError) {
      failed ??= parts;
      continue;
    }
    for (const key of keysFor(call, endpoint)) {
      const timeoutMs = Math.min(ASK_TIMEOUT_MS, endMs - deps.clock.monotonic());
      if (asksLeft-- <= 0 || timeoutMs <= 0)
        throw failed ?? fail("upstream_timeout", "No provider counted the prompt in time.");
      const headers = route.isSplice ? call.incoming.passing : NO_HEADERS;
      const question = {
        endpoint,
        key,
        dialect: route.dialect,
        parts,
        headers,
        act: "count",
        timeoutMs,
      } as const;
      const result = await countResult(deps, question, call);
      if (result.kind === "counted") return { ...result, body: route.isSplice ? result.body : undefined };
      // Another key of the pool would get the same answer.
      if (result.kind === "unable") break;
      failed = result.error;
      if (result.isFinal) throw failed;
      if (!result.isOfKey) break;
    }
  }
  if (failed !== undefined) throw failed;
  return undefined;
}

interface CountRoute {
  readonly dialect: Dialect;
  /** The body is passed on in the client's own dialect. */
  readonly isSplice: boolean;
}

/** The client's own dialect if the endpoint counts in it, else the first dialect that it counts in. */
function routeTo(
  { upstreams }: ProviderCountDeps,
  { incoming }: Call,
  endpoint: Endpoint,
): CountRoute | undefined {
  const counts = (dialect: Dialect) =>
    endpoint.dialects.includes(dialect) &&
    countingDialects.includes(dialect) &&
    upstreams.does(endpoint, dialect, "count");
  const own = incoming.format.splice?.dialect;
  if (own !== undefined && counts(own)) return { dialect: own, isSplice: true };
  const dialect = endpoint.dialects.find(counts);
  return dialect && { dialect, isSplice: false };
}

/** The count request's body, or the error if it cannot be written for this endpoint: for another one it may be possible. */
async function questionFor(
  { bodies }: ProviderCountDeps,
  { incoming, request, key }: ReadCall,
  endpoint: Endpoint,
  { dialect, isSplice }: CountRoute,
): Promise<Question | WeirError> {
  const { format } = incoming;
  const { orgId } = key;
  try {
    if (!isSplice) return await bodies.question(format, dialect, request, endpoint, orgId);
    // A count costs nothing, so nothing is left out for want of a price.
    const passable = passageTo(format, endpoint);
    const sender = { orgId, billed: "org" } as const;
    return passable && (await bodies.write(format, passable, request, endpoint, sender)).parts;
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
}

/** The org's own keys first, then the gateway's, unless the org forbids those. */
function keysFor({ ownKeys }: Call, { provider }: Endpoint): readonly ProviderKey[] {
  const own = ownKeys?.of(provider.id) ?? [];
  return ownKeys?.platformFallback(provider.id) === false ? own : [...own, ...provider.keys];
}

type CountResult =
  | { readonly kind: "counted"; readonly tokens: number; readonly provider: string; readonly body: Buffer }
  /** The provider has no route for it. */
  | { readonly kind: "unable" }
  | {
      readonly kind: "failed";
      readonly error: WeirError;
      /** The request itself was refused: no other endpoint is asked. */
      readonly isFinal: boolean;
      /** Another key of the endpoint may be accepted. */
      readonly isOfKey: boolean;
    };

async function countResult(
  { clock, upstreams }: ProviderCountDeps,
  question: UpstreamQuestion,
  { model, plan, request, incoming }: PlannedCall,
): Promise<CountResult> {
  let answer: Answer;
  try {
    answer = await upstreams.ask(question);
  } catch (error) {
    if (error instanceof WeirError) return { kind: "failed", error, isFinal: false, isOfKey: false };
    throw error;
  }
  const { status, headers, body } = answer;
  const { dialect, endpoint, key } = question;
  if (status >= 200 && status < 300) {
    const tokens = countAnswer(dialect, body);
    if (tokens !== undefined) return { kind: "counted", tokens, provider: endpoint.provider.id, body };
    const message = `The provider behind ${model.id} answered with no count.`;
    return {
      kind: "failed",
      error: fail("upstream_invalid_response", message),
      isFinal: false,
      isOfKey: false,
    };
  }
  const reported = answerFailure(status, headers, body, clock.now());
  if (isNoRoute(status, reported.upstream)) return { kind: "unable" };
  const failed = withoutCredential(reported, key.credential, upstreams.proxiesOf(endpoint.provider));
  return {
    kind: "failed",
    error: callerError(failed, { model, plan, request, incoming, endpoint, lane: { key } }),
    isFinal: !mayFallBack(failed),
    isOfKey: failed.errorClass === "capacity" || failed.errorClass === "auth",
  };
}

/** Messages of OpenAI, Groq and Anthropic for an unknown address. */
const NO_ROUTE = /^(Invalid URL|Unknown request URL|Not Found\.?$)/i;
/** Bedrock's message for a model that it cannot count for. */
const NOT_COUNTED = /doesn't support counting tokens/;

/**
 * Whether the provider cannot count, or not for this model: by the status, by a 404 without an error of any dialect, or by
 * the error's text. Any other 404 is about the request, for example a model that the provider does not know.
 */
function isNoRoute(status: number, { code, type, message }: UpstreamError): boolean {
  if (status === 405 || status === 501) return true;
  if (status === 400) return NOT_COUNTED.test(message);
  if (status !== 404) return false;
  const isSilent = code === "" && type === "";
  return isSilent || type === "UnknownOperationException" || code === "unknown_url" || NO_ROUTE.test(message);
}
