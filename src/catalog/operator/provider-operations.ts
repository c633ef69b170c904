/**
 * `GET /v1/operator/providers`: whoever runs the installation sees which credentials are missing, which keys rest and why, how
 * endpoints do, and what providers refuse. Health is from memory; refusals come through a port and may be missing.
 */
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import type { Endpoint, Provider, ProviderKey } from "../../base/endpoint.ts";
import { mustExist } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import { listOf } from "../../base/operation/page.ts";
import type { CatalogSnapshot } from "../models/catalog.ts";
import { endpointsByProvider, type OfProvider } from "./endpoints.ts";
import {
  type EndpointWire,
  HEALTH_OF,
  type HealthState,
  type KeyWire,
  type OperatorProvider,
  operatorProvider,
  operatorProviderDetail,
  type REST_REASONS,
  type RefusalWire,
} from "./provider-wire.ts";

/** How an endpoint does now. */
export interface OperatorHealth {
  readonly state: HealthState;
  readonly errorRate: number;
  readonly outForMs: number;
  /** Class of the last failure; empty: none. */
  readonly lastFailure: string;
  readonly ttftMs: number | undefined;
  readonly tokensPerSecond: number | undefined;
}

export interface KeyRest {
  readonly why: (typeof REST_REASONS)[number];
  readonly forMs: number;
}

/** What a provider refused in one way. */
export interface ProviderRefusal {
  readonly provider: string;
  readonly meaning: string;
  readonly row: string;
  readonly httpStatus: number;
  readonly errorClass: string;
  readonly attempts: number;
  readonly ownKey: number;
  readonly lastMs: number;
  readonly lastCode: string;
}

export interface OperatorProviderDeps {
  readonly catalog: { current(): CatalogSnapshot };
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Port: undefined where nothing is known of the endpoint. */
  readonly healthOf: (endpoint: Endpoint) => OperatorHealth | undefined;
  /** Port: since when the endpoint takes no calls, monotonic; undefined: it does, or that is not known. */
  readonly downSinceMs: (endpoint: Endpoint) => number | undefined;
  /** Port: undefined where the key may be used at the endpoint. */
  readonly restOf: (endpoint: Endpoint, key: ProviderKey) => KeyRest | undefined;
  /** Port: keys of orgs' own. */
  readonly orgKeysOf: (providerId: string) => number;
  /** Port: of the last 24 hours, the most frequent first; undefined where they could not be read in time. */
  readonly refusals: () => Promise<readonly ProviderRefusal[] | undefined>;
  /** The gateway's name. */
  readonly cell: string;
}

/** Endpoints of a provider in the list, and alone. */
const MOST_TROUBLED = 10;
const MOST_ENDPOINTS = 500;
const MOST_REFUSALS = 20;

const NOT_TRIED: OperatorHealth = {
  state: "unknown",
  errorRate: 0,
  outForMs: 0,
  lastFailure: "",
  ttftMs: undefined,
  tokensPerSecond: undefined,
};

/** Worst first. */
const WORST: readonly HealthState[] = ["saturated", "failing", "degraded", "healthy", "unknown"];
const IN_TROUBLE: ReadonlySet<HealthState> = new Set(["saturated", "failing", "degraded"]);
const GRAVEST: readonly KeyRest["why"][] = ["refused", "forbidden", "capacity"];

export function operatorProviderOperations(deps: OperatorProviderDeps) {
  const { catalog, refusals, cell } = deps;
  return {
    operatorListProviders: operation({
      summary:
        "Providers with their credentials, health and refusals, in the order of the operator's file; not paged",
      method: "GET",
      path: "/v1/operator/providers",
      access: "operator",
      group: "Operator",
      output: listOf(operatorProvider).extend(HEALTH_OF),
      async run() {
        const refused = await refusals();
        const snapshot = catalog.current();
        const endpoints = endpointsByProvider(snapshot);
        const data = Array.from(snapshot.providers.values(), (provider) =>
          shortOf(deps, provider, endpoints.get(provider.id) ?? [], refused),
        );
        return { object: "list" as const, data, cell, analytics: refused !== undefined };
      },
    }),
    operatorGetProvider: operation({
      summary: "A provider with its credentials, health and refusals, and all its endpoints",
      method: "GET",
      path: "/v1/operator/providers/{id}",
      access: "operator",
      group: "Operator",
      params: z.object({ id: field.pathId.describe("The provider's id.") }),
      output: operatorProviderDetail,
      errors: ["not_found"],
      async run({ params }) {
        mustExist(catalog.current().providers.get(params.id), "provider");
        const refused = await refusals();
        const snapshot = catalog.current();
        const provider = mustExist(snapshot.providers.get(params.id), "provider");
        const seen = seenOf(deps, provider, endpointsByProvider(snapshot).get(provider.id) ?? []);
        return {
          ...summaryOf(deps, provider, seen, refused),
          cell,
          analytics: refused !== undefined,
          all_endpoints: seen.endpoints.slice(0, MOST_ENDPOINTS),
        };
      },
    }),
  };
}

/** The endpoints of a provider, the worst first, and how its keys do there. */
interface Seen {
  readonly endpoints: readonly EndpointWire[];
  readonly keys: readonly KeyWire[];
}

function seenOf(deps: OperatorProviderDeps, { keys }: Provider, endpoints: readonly OfProvider[]): Seen {
  const nowMs = deps.clock.now();
  const rests = new Map<string, KeyRest[]>(keys.map(({ id }) => [id, []]));
  const shown = endpoints.map(({ endpoint, isReachable }) => {
    const here = isReachable ? keys.flatMap((key) => restingKey(deps, endpoint, key) ?? []) : [];
    for (const { keyId, rest } of here) rests.get(keyId)?.push(rest);
    return endpointWire(deps, endpoint, isReachable, here, nowMs);
  });
  return {
    endpoints: shown.sort(
      (a, b) => rankOf(a) - rankOf(b) || b.error_rate - a.error_rate || (a.id < b.id ? -1 : 1),
    ),
    keys: keys.map(({ id }) => keyWire(id, rests.get(id) ?? [], nowMs)),
  };
}

const rankOf = ({ status, state }: EndpointWire): number =>
  status === "active" ? WORST.indexOf(state) : WORST.length;

function restingKey({ restOf }: OperatorProviderDeps, endpoint: Endpoint, key: ProviderKey) {
  const rest = restOf(endpoint, key);
  return rest && { keyId: key.id, rest };
}

function endpointWire(
  { healthOf, downSinceMs, clock }: OperatorProviderDeps,
  endpoint: Endpoint,
  isReachable: boolean,
  resting: readonly { readonly keyId: string; readonly rest: KeyRest }[],
  nowMs: number,
): EndpointWire {
  const health = (isReachable ? healthOf(endpoint) : undefined) ?? NOT_TRIED;
  const sinceMs = isReachable ? downSinceMs(endpoint) : undefined;
  return {
    id: endpoint.id,
    model: endpoint.model,
    region: endpoint.region,
    status: isReachable ? "active" : "inactive",
    state: health.state,
    error_rate: Number(health.errorRate.toFixed(4)),
    out_until: health.outForMs > 0 ? isoTime(nowMs + Math.ceil(health.outForMs)) : null,
    last_failure: health.lastFailure,
    down_since: sinceMs === undefined ? null : isoTime(nowMs - Math.round(clock.monotonic() - sinceMs)),
    ttft_ms: health.ttftMs === undefined ? null : Math.round(health.ttftMs),
    tokens_per_second:
      health.tokensPerSecond === undefined ? null : Number(health.tokensPerSecond.toFixed(1)),
    resting_keys: resting.map(({ keyId, rest }) => ({
      key_id: keyId,
      until: isoTime(nowMs + Math.ceil(rest.forMs)),
      why: rest.why,
    })),
  };
}

function keyWire(id: string, rests: readonly KeyRest[], nowMs: number): KeyWire {
  const why = GRAVEST.find((reason) => rests.some((rest) => rest.why === reason)) ?? null;
  return {
    id,
    status: why === null ? "ready" : why === "refused" ? "refused" : "resting",
    resting_at: rests.length,
    until: why === null ? null : isoTime(nowMs + Math.ceil(Math.max(...rests.map(({ forMs }) => forMs)))),
    why,
  };
}

function shortOf(
  deps: OperatorProviderDeps,
  provider: Provider,
  endpoints: readonly OfProvider[],
  refused: readonly ProviderRefusal[] | undefined,
): OperatorProvider {
  const seen = seenOf(deps, provider, endpoints);
  const troubled = seen.endpoints.filter(({ status, state }) => status === "active" && IN_TROUBLE.has(state));
  return { ...summaryOf(deps, provider, seen, refused), troubled: troubled.slice(0, MOST_TROUBLED) };
}

function summaryOf(
  { orgKeysOf }: OperatorProviderDeps,
  provider: Provider,
  { endpoints, keys }: Seen,
  refused: readonly ProviderRefusal[] | undefined,
): Omit<OperatorProvider, "troubled"> {
  const active = endpoints.filter(({ status }) => status === "active");
  const count = (state: HealthState) => active.filter((endpoint) => endpoint.state === state).length;
  return {
    id: provider.id,
    name: provider.name,
    status: provider.status,
    switched_off: provider.isSwitchedOff === true,
    simulated: provider.simulated,
    dialects: [...provider.dialects],
    regions: [...provider.regions],
    missing: [...(provider.missing ?? [])],
    variables: (provider.variables ?? []).map(({ name, use, isSet, keyId }) => ({
      name,
      use,
      is_set: isSet,
      ...(keyId !== undefined && { key_id: keyId }),
    })),
    keys: [...keys],
    org_keys: orgKeysOf(provider.id),
    models: new Set(active.map(({ model }) => model)).size,
    endpoints: active.length,
    configured_endpoints: endpoints.length,
    states: {
      healthy: count("healthy"),
      degraded: count("degraded"),
      failing: count("failing"),
      saturated: count("saturated"),
      unknown: count("unknown"),
    },
    refusals: (refused ?? [])
      .filter(({ provider: id }) => id === provider.id)
      .slice(0, MOST_REFUSALS)
      .map(refusalWire),
  };
}

const refusalWire = (one: ProviderRefusal): RefusalWire => ({
  meaning: one.meaning,
  row: one.row,
  http_status: one.httpStatus,
  error_class: one.errorClass,
  attempts: one.attempts,
  own_key_attempts: one.ownKey,
  last_at: isoTime(one.lastMs),
  last_code: one.lastCode,
});
