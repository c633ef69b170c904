/**
 * Which endpoints may serve a call, with one reason in plain words for each that may not. Requirements only exclude, so
 * a stricter requirement never admits an endpoint.
 */
import type { Capabilities, Endpoint } from "../../base/endpoint.ts";
import { usdPerMillionFromNano } from "../../base/money.ts";
import type { Decision } from "./decision.ts";

/** What the planner needs to know about a call. */
export interface RouteFacts {
  readonly environment: "live" | "test";
  readonly stream: boolean;
  readonly hasTools: boolean;
  /** The request asks for parallel tool calls explicitly. */
  readonly parallelTools: boolean;
  readonly hasImages: boolean;
  readonly hasAudio: boolean;
  readonly hasSchema: boolean;
  readonly reasoning: boolean;
  /** An estimate when far from the limit, exact when near it. */
  readonly promptTokens: number;
  /** The longest input, for tasks that read their inputs one by one; absent: the prompt is the only input. */
  readonly longestTokens?: number | undefined;
  readonly maxTokens: number | undefined;
  /** Endpoints that cannot give `maxTokens` are told fewer; else they are left out. */
  readonly lowersLimit?: boolean;
  /**
   * Id of the endpoint that holds the conversation: if eligible, it ranks before everything but the request's own
   * order.
   */
  readonly preferred?: string | undefined;
  /** Hash of whoever should stay at the same endpoint, by the decision's affinity; empty: no affinity. */
  readonly affinityKey: string;
  /** Hash of the end user or session that experiments assign to arms; empty: each call is assigned on its own. */
  readonly unit: string;
  /** The decision's canary is red: it gets no share. */
  readonly isCanaryRed: boolean;
  readonly orgPolicy: {
    readonly zdr: boolean;
    readonly noTrain: boolean;
    /** Empty: any region. */
    readonly regions: readonly string[];
  };
}

export const EXCLUSION_KINDS = [
  "status",
  "environment",
  "capability",
  "context",
  "data_policy",
  "region",
  "price",
  "route",
  "saturated",
  "refused",
  "not_configured",
] as const;
type ExclusionKind = (typeof EXCLUSION_KINDS)[number];

export interface Exclusion {
  readonly endpointId: string;
  /** Plain words, safe for the caller to see. */
  readonly reason: string;
  readonly kind: ExclusionKind;
}

/** The exclusions as clients receive them. */
export const excludedWire = (excluded: readonly Exclusion[]) =>
  excluded.map(({ endpointId, kind, reason }) => ({ endpoint_id: endpointId, kind, reason }));

/** What of an endpoint decides whether it may serve a call. Plain values, which can be cloned between threads. */
export type Judged = Pick<
  Endpoint,
  "id" | "status" | "region" | "capabilities" | "maxOutput" | "contextLength" | "dataPolicy"
> & {
  readonly provider: Pick<Endpoint["provider"], "id" | "status" | "simulated">;
  readonly prices: Pick<Endpoint["prices"], "input" | "output">;
};

/** Why this endpoint may not serve this call; undefined where it may. The first reason found is returned. */
export function exclusionOf(endpoint: Judged, facts: RouteFacts, decision: Decision): Exclusion | undefined {
  if (endpoint.status !== "active" || endpoint.provider.status !== "active") {
    return out(endpoint, "status", "it is switched off");
  }
  if (facts.environment === "test" && !endpoint.provider.simulated) {
    return out(endpoint, "environment", "test keys reach only the simulator");
  }
  return (
    named(endpoint, decision) ??
    capability(endpoint, facts) ??
    context(endpoint, facts) ??
    policy(endpoint, facts, decision) ??
    price(endpoint, decision)
  );
}

const out = (endpoint: Judged, kind: ExclusionKind, reason: string): Exclusion => ({
  endpointId: endpoint.id,
  kind,
  reason,
});

/** Whether a list of provider and endpoint ids listsEndpoint this endpoint. */
export const listsEndpoint = (ids: readonly string[], endpoint: Judged): boolean =>
  ids.includes(endpoint.id) || ids.includes(endpoint.provider.id);

function named(endpoint: Judged, decision: Decision): Exclusion | undefined {
  if (decision.only !== undefined && !listsEndpoint(decision.only, endpoint)) {
    return out(endpoint, "route", "it is not among those that are allowed (only)");
  }
  if (decision.ignore !== undefined && listsEndpoint(decision.ignore, endpoint)) {
    return out(endpoint, "route", "it is left out by name (ignore)");
  }
  if (!decision.fallbacks && decision.order?.length && !listsEndpoint(decision.order, endpoint)) {
    return out(endpoint, "route", "it is not in the order, and fallbacks are off");
  }
  return undefined;
}

/** Capabilities that a request may need and that not every endpoint has. */
export const NEEDS = ["tools", "parallelTools", "vision", "audio", "jsonSchema", "reasoning"] as const;
export type Need = (typeof NEEDS)[number];

export const needWords: Readonly<Record<Need, string>> = {
  tools: "tools",
  parallelTools: "parallel tool calls",
  vision: "images",
  audio: "audio",
  jsonSchema: "JSON schemas",
  reasoning: "reasoning",
};

/** The first capability that the call needs and the endpoint lacks. */
export function missingCapability(
  can: Pick<Capabilities, Need>,
  needs: Pick<
    RouteFacts,
    "hasTools" | "parallelTools" | "hasImages" | "hasAudio" | "hasSchema" | "reasoning"
  >,
): Need | undefined {
  if (needs.hasTools && !can.tools) return "tools";
  if (needs.parallelTools && !can.parallelTools) return "parallelTools";
  if (needs.hasImages && !can.vision) return "vision";
  if (needs.hasAudio && !can.audio) return "audio";
  if (needs.hasSchema && !can.jsonSchema) return "jsonSchema";
  return needs.reasoning && !can.reasoning ? "reasoning" : undefined;
}

function capability(endpoint: Judged, facts: RouteFacts): Exclusion | undefined {
  const lack = missingCapability(endpoint.capabilities, facts);
  return lack && out(endpoint, "capability", `it does not support ${needWords[lack]}`);
}

function context(endpoint: Judged, facts: RouteFacts): Exclusion | undefined {
  const { maxTokens } = facts;
  // A prompt that fills the context leaves no room for a single output token. What is lowered takes what room there is.
  let answerTokens = maxTokens ?? 1;
  if (maxTokens !== undefined && maxTokens > endpoint.maxOutput) {
    if (facts.lowersLimit !== true) {
      return out(
        endpoint,
        "context",
        `${maxTokens} output tokens are asked for, its limit is ${endpoint.maxOutput}`,
      );
    }
    answerTokens = 1;
  }
  const needed = (facts.longestTokens ?? facts.promptTokens) + answerTokens;
  if (needed <= endpoint.contextLength) return undefined;
  return out(
    endpoint,
    "context",
    `prompt and answer need about ${needed} tokens, its context is ${endpoint.contextLength}`,
  );
}

function policy(endpoint: Judged, facts: RouteFacts, decision: Decision): Exclusion | undefined {
  const { orgPolicy } = facts;
  const { dataPolicy } = endpoint;
  if ((orgPolicy.zdr || decision.require.zdr === true) && !dataPolicy.zdr) {
    return out(endpoint, "data_policy", "zero data retention is required, and it does not promise that");
  }
  if ((orgPolicy.noTrain || decision.require.no_train === true) && dataPolicy.trains) {
    return out(endpoint, "data_policy", "its provider may train on what is sent");
  }
  if (orgPolicy.regions.length > 0 && !orgPolicy.regions.includes(endpoint.region)) {
    return outside(endpoint, orgPolicy.regions);
  }
  const { regions } = decision.require;
  if (regions !== undefined && !regions.includes(endpoint.region)) return outside(endpoint, regions);
  return undefined;
}

const outside = (endpoint: Judged, regions: readonly string[]): Exclusion =>
  out(
    endpoint,
    "region",
    `its region ${endpoint.region} is not among ${withoutBrackets(regions.join(", ")) || "any that suits both"}`,
  );

/** Names that people chose, for a reason: brackets end a reason in the line of a plan (trace.ts). Nearly none has them. */
export const withoutBrackets = (names: string): string =>
  names.includes("(") || names.includes(")") ? names.replaceAll(/[()]/g, "") : names;

function price(endpoint: Judged, decision: Decision): Exclusion | undefined {
  const limit = decision.require.max_price;
  if (limit === undefined) return undefined;
  return (
    above(endpoint, "input", endpoint.prices.input, limit.input) ??
    above(endpoint, "output", endpoint.prices.output, limit.output)
  );
}

function above(
  endpoint: Judged,
  what: string,
  nano: number,
  limitUsd: number | undefined,
): Exclusion | undefined {
  const usd = usdPerMillionFromNano(nano);
  if (limitUsd === undefined || usd <= limitUsd) return undefined;
  return out(endpoint, "price", `its ${what} costs ${usd} USD per million tokens, the limit is ${limitUsd}`);
}
