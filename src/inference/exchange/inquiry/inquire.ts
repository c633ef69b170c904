/**
 * Answers questions about a call without making it: the number of tokens of its prompt, or its plan and cost. Nothing is
 * charged and no record is stored; both count as requests against the key's limits.
 */

import type { Endpoint } from "../../../base/endpoint.ts";
import { asWeirError, fail } from "../../../base/errors.ts";
import { type Limits, refusalError } from "../../../credits/limits/limits.ts";
import { excludedWire } from "../../../routing/planner/eligibility.ts";
import { estimatePromptTokens } from "../../../wire/estimate.ts";
import type { ClientFormat } from "../../../wire/format.ts";
import { passageTo } from "../../../wire/passages.ts";
import { limitWarnings } from "../../../wire/relay/limit-warnings.ts";
import { toldWithin } from "../../../wire/relay/lowered.ts";
import { isEncoding } from "../../../workers/tokenise.ts";
import { type Bodies, DEFAULT_ENCODING } from "../body/bodies.ts";
import { Call, type Incoming, type PlannedCall } from "../call.ts";
import { type ContinueDeps, continued } from "../continue.ts";
import { answerHeaders, retryHeaders } from "../headers.ts";
import { type PlanDeps, planCall } from "../plan.ts";
import { type BoundDeps, worstCaseOf } from "../reservation/cost-bound.ts";
import { countByProvider, type ProviderCountDeps } from "./provider-count.ts";

export type Inquiry = "count_tokens" | "dry_run";

export interface InquireDeps extends PlanDeps, ProviderCountDeps, BoundDeps {
  readonly limits: Limits;
  readonly bodies: Bodies;
  readonly continue: ContinueDeps;
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** A count and how it was made. */
interface Count {
  readonly input_tokens: number;
  readonly source: "exact" | "provider" | "estimated";
  readonly tokenizer: string;
}

/** Answers one inquiry. Never throws. */
export async function inquire(deps: InquireDeps, inquiry: Inquiry, incoming: Incoming): Promise<void> {
  const call = new Call(incoming);
  const { format, reply, body } = incoming;
  let answer: string | Buffer;
  try {
    const request = await continued(deps.continue, call, await deps.bodies.read(format, body));
    const admission = await deps.limits.admit(call.key, 0);
    if (!admission.admitted) throw refusalError(admission);
    try {
      const planned = await planCall(deps, call.withRequest(request).withAdmission(admission));
      answer = inquiry === "dry_run" ? JSON.stringify(dryRun(deps, planned)) : await counted(deps, planned);
    } finally {
      admission.release();
    }
  } catch (thrown) {
    const error = asWeirError(thrown);
    if (error.kind === "internal") deps.onFault(thrown, call.requestId);
    const headers = answerHeaders(deps.limits, call) + retryHeaders(error);
    reply.send(error.status, headers, format.errorBody(error, call.requestId));
    return;
  } finally {
    incoming.release();
  }
  reply.send(200, answerHeaders(deps.limits, call), answer);
}

/**
 * Exact if the model's tokenizer is public and the prompt is text only; else by a provider that counts; else, if none can,
 * an estimate that is marked as one. If a provider fails to count, the request fails: an estimate may be far too low and
 * would be taken for the count.
 */
async function counted(deps: InquireDeps, call: PlannedCall): Promise<string | Buffer> {
  const { request, model } = call;
  const { format } = call.incoming;
  const own = isEncoding(model.tokenizer) ? model.tokenizer : undefined;
  const texts = own && (await deps.bodies.countable(format, request));
  if (own === undefined || texts?.isAll !== true) {
    const providerCount = await countByProvider(deps, call);
    if (providerCount?.body !== undefined) return providerCount.body;
    if (providerCount !== undefined) {
      const tokenizer = `${providerCount.provider} count`;
      return countJson(format, { input_tokens: providerCount.tokens, source: "provider", tokenizer });
    }
  }
  const { texts: prompt, framingTokens, isAll } = texts ?? (await deps.bodies.countable(format, request));
  const tokenizer = own ?? DEFAULT_ENCODING;
  const media = estimatePromptTokens(0, request.facts.imageCount);
  const tokens = (await deps.bodies.countTexts(prompt, tokenizer)) + framingTokens + media;
  const source = isAll && own !== undefined ? "exact" : "estimated";
  return countJson(format, { input_tokens: tokens, source, tokenizer });
}

/** Anthropic's and OpenAI's clients read the number; a further member only marks an estimate. */
function countJson({ habits }: ClientFormat, count: Count): string {
  const { input_tokens, source } = count;
  const { countObject: object, readsBareCounts } = habits;
  if (object === undefined && readsBareCounts !== true) return JSON.stringify(count);
  return JSON.stringify({
    ...(object !== undefined && { object }),
    input_tokens,
    ...(source === "estimated" && { source }),
  });
}

/** The endpoints that would be tried, in order, and the amount that would be held. */
function dryRun(deps: InquireDeps, call: PlannedCall): object {
  const { plan } = call;
  const byId = new Map(plan.attempts.map((endpoint) => [endpoint.id, endpoint]));
  const first = plan.attempts[0];
  if (first === undefined) throw fail("no_endpoint", "No endpoint satisfies this request.");
  const limit = plan.limits?.get(first.id);
  return {
    plan: plan.ranking().flatMap(({ endpointId, score, reason }) => {
      const provider = byId.get(endpointId)?.provider.id;
      return provider === undefined ? [] : [{ endpoint_id: endpointId, provider, score, reason }];
    }),
    excluded: excludedWire(plan.excluded),
    trace: plan.trace(),
    warnings: [
      ...(call.isOtherName ? [call.nameWarning] : []),
      ...(limit === undefined ? [] : loweredWarnings(call, first, limit)),
    ],
    reserve_micro: worstCaseOf(deps, call),
    price_version: first.prices.version,
  };
}

/** As the answer of the call would have them, but for what the dialect does not carry. */
function loweredWarnings({ incoming, request }: PlannedCall, endpoint: Endpoint, limit: number) {
  const { format } = incoming;
  const isSplice = passageTo(format, endpoint)?.isSplice === true;
  const way = { format: format.name, isSplice, isFitted: false, dropped: [] };
  return limitWarnings(request, endpoint, toldWithin(limit, limit), way);
}
