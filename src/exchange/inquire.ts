/**
 * What can be asked about a call without making it: how many tokens its prompt has, and which way it would take at what
 * cost. Nothing is charged and no record is kept; both count as requests against the key's limits.
 */
import type { CatalogSnapshot } from "../catalog/catalog.ts";
import type { Dialect, Endpoint } from "../endpoint.ts";
import { asWeirError, fail, type WeirError } from "../errors.ts";
import { type Limits, refusalError } from "../limits/limits.ts";
import type { Answer } from "../upstream/ask.ts";
import type { UpstreamQuestion } from "../upstream/upstreams.ts";
import type { ByokFee } from "../usage.ts";
import { countAnswer, countingDialects } from "../wire/count.ts";
import { estimatePromptTokens } from "../wire/estimate.ts";
import type { ClientFormat } from "../wire/format.ts";
import { isEncoding } from "../workers/tokenise.ts";
import { type Bodies, USUAL_ENCODING } from "./bodies.ts";
import { Call, type Incoming, type Planned } from "./call.ts";
import { answerHeaders, retryHeaders } from "./headers.ts";
import { excludedWire, type PlanDeps, planCall } from "./plan.ts";
import { worstCaseOf } from "./reserve.ts";

export type Inquiry = "count_tokens" | "dry_run";

export interface InquireDeps extends PlanDeps {
  readonly limits: Limits;
  readonly bodies: Bodies;
  readonly catalog: { current(): CatalogSnapshot };
  readonly defaultMaxTokens: number;
  readonly byokFee: ByokFee;
  readonly upstreams: {
    does(endpoint: Endpoint, dialect: Dialect, act: "count"): boolean;
    ask(question: UpstreamQuestion): Promise<Answer>;
  };
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** How a count was made. */
interface Count {
  readonly input_tokens: number;
  readonly source: "exact" | "provider" | "estimated";
  readonly tokenizer: string;
}

const ASK_TIMEOUT_MS = 10_000;

/** Answers one inquiry. Never throws. */
export async function inquire(deps: InquireDeps, inquiry: Inquiry, incoming: Incoming): Promise<void> {
  const call = new Call(incoming);
  const { format, reply, body } = incoming;
  let answer: object;
  try {
    const request = await deps.bodies.read(format, body);
    const admission = deps.limits.admit(call.key, 0);
    if (!admission.admitted) throw refusalError(admission);
    try {
      const planned = await planCall(deps, { call, request });
      answer = inquiry === "dry_run" ? dryRun(deps, planned) : answerOf(format, await count(deps, planned));
    } finally {
      admission.release();
    }
  } catch (thrown) {
    const error = asWeirError(thrown);
    if (error.kind === "internal") deps.onFault(thrown, call.requestId);
    refuse(deps, call, error);
    return;
  }
  reply.send(200, answerHeaders(deps.limits, call), JSON.stringify(answer));
}

function refuse(deps: InquireDeps, call: Call, error: WeirError): void {
  const { reply, format } = call.incoming;
  const headers = answerHeaders(deps.limits, call) + retryHeaders(error);
  reply.send(error.status, headers, format.errorBody(error, call.requestId));
}

/** Anthropic's clients know one member; ours are told how it was counted. */
const answerOf = (format: ClientFormat, count: Count): object =>
  format.name === "messages" ? { input_tokens: count.input_tokens } : count;

async function count(deps: InquireDeps, planned: Planned): Promise<Count> {
  const { call, request, model } = planned;
  const { format } = call.incoming;
  const own = isEncoding(model.tokenizer) ? model.tokenizer : undefined;
  if (own === undefined) {
    const told = await countByProvider(deps, planned);
    if (told !== undefined) return told;
  }
  const { texts, framingTokens, isAll } = await deps.bodies.countable(format, request);
  const encoding = own ?? USUAL_ENCODING;
  const media = estimatePromptTokens(0, request.facts.imageCount);
  const tokens = (await deps.bodies.countTexts(texts, encoding)) + framingTokens + media;
  const isExact = isAll && own !== undefined;
  return { input_tokens: tokens, source: isExact ? "exact" : "estimated", tokenizer: encoding };
}

/** The first endpoint of the plan that has a way to ask is asked; undefined where none answers. */
async function countByProvider(deps: InquireDeps, planned: Planned): Promise<Count | undefined> {
  const { call, request, plan } = planned;
  for (const endpoint of plan.attempts) {
    const dialect = endpoint.dialects.find(
      (name) => countingDialects.includes(name) && deps.upstreams.does(endpoint, name, "count"),
    );
    if (dialect === undefined) continue;
    const parts = await deps.bodies.question(call.incoming.format, dialect, request, endpoint);
    if (parts === undefined) continue;
    const [key] = [...(call.ownKeys?.of(endpoint.provider.id) ?? []), ...endpoint.provider.keys];
    if (key === undefined) continue;
    const asked = {
      endpoint,
      key,
      dialect,
      parts,
      headers: {},
      act: "count",
      timeoutMs: ASK_TIMEOUT_MS,
    } as const;
    const told = await deps.upstreams.ask(asked).catch(() => undefined);
    const tokens = told?.status === 200 ? countAnswer(dialect, told.body) : undefined;
    if (tokens !== undefined) {
      return { input_tokens: tokens, source: "provider", tokenizer: `${endpoint.provider.id} count` };
    }
  }
  return undefined;
}

/** Which endpoints would be asked in which order, and what would be held. */
function dryRun(deps: InquireDeps, planned: Planned): object {
  const { plan } = planned;
  const byId = new Map(plan.attempts.map((endpoint) => [endpoint.id, endpoint]));
  const first = plan.attempts[0];
  if (first === undefined) throw fail("no_endpoint", "No endpoint satisfies this request.");
  return {
    plan: plan.ranking().flatMap(({ endpointId, score, reason }) => {
      const provider = byId.get(endpointId)?.provider.id;
      return provider === undefined ? [] : [{ endpoint_id: endpointId, provider, score, reason }];
    }),
    excluded: excludedWire(plan),
    trace: plan.trace(),
    warnings: [],
    reserve_micro: worstCaseOf(deps, planned),
    price_version: first.prices.version,
  };
}
