/**
 * Selects the key for an endpoint: one of the org's own first, then one of the gateway's; and another one after a refusal.
 */
import type { Endpoint, ProviderKey } from "../../base/endpoint.ts";
import type { Health, LaneLease } from "../../routing/health/health.ts";
import type { Call } from "./call.ts";

/**
 * Undefined if no key may be used now. The caller must return the lane with `health.onResult` in every case.
 * @param tried ids of keys that were refused already
 */
export function laneFor(
  health: Health,
  call: Call,
  endpoint: Endpoint,
  tried: ReadonlySet<string> = NO_KEYS,
): LaneLease | undefined {
  const { provider } = endpoint;
  const own = call.ownKeys?.of(provider.id);
  if (own !== undefined && own.length > 0) {
    const lane = health.begin(endpoint, without(own, tried), call.lanePreference);
    if (lane !== undefined) return lane;
  }
  // Also if the org has no usable key: what its settings forbid stays forbidden.
  if (call.ownKeys?.platformFallback(provider.id) === false) return undefined;
  return health.begin(endpoint, without(provider.keys, tried), call.lanePreference);
}

/** Maximum number of keys of one pool that one call may be refused with. */
const MAX_KEYS = 3;

/** The refused keys of one call, by endpoint. */
export class RefusedLanes {
  readonly #keyIds = new Map<Endpoint, Set<string>>();

  /** A lane with another key of the pool after a refusal; undefined if none may be used now. */
  anotherFor(health: Health, call: Call, { endpoint, key }: LaneLease): LaneLease | undefined {
    const isPool = endpoint.provider.keys.length > 1 || call.ownKeys !== undefined;
    if (!isPool) return undefined;
    const tried = this.#keyIds.get(endpoint) ?? new Set();
    this.#keyIds.set(endpoint, tried.add(key.id));
    return tried.size < MAX_KEYS ? laneFor(health, call, endpoint, tried) : undefined;
  }
}

const NO_KEYS: ReadonlySet<string> = new Set();

const without = (keys: readonly ProviderKey[], tried: ReadonlySet<string>): readonly ProviderKey[] =>
  tried.size === 0 ? keys : keys.filter(({ id }) => !tried.has(id));
