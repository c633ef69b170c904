/** With which key an endpoint is asked: the org's own first, then one of the gateway's. */
import type { Endpoint, ProviderKey } from "../endpoint.ts";
import type { Health, Lane } from "../routing/health.ts";
import type { Call } from "./call.ts";

/**
 * Undefined where none may be used now. Whoever gets a lane must report with `health.onResult`, whatever happens.
 * @param tried ids of keys that were refused already
 */
export function laneFor(
  health: Health,
  call: Call,
  endpoint: Endpoint,
  tried: ReadonlySet<string>,
): Lane | undefined {
  const { provider } = endpoint;
  const own = call.ownKeys?.of(provider.id);
  if (own !== undefined && own.length > 0) {
    const lane = health.begin(endpoint, without(own, tried), call.wish);
    if (lane !== undefined) return lane;
  }
  // Also where the org's keys cannot be used at all: what they forbid stays forbidden.
  if (call.ownKeys?.platformFallback(provider.id) === false) return undefined;
  return health.begin(endpoint, without(provider.keys, tried), call.wish);
}

const without = (keys: readonly ProviderKey[], tried: ReadonlySet<string>): readonly ProviderKey[] =>
  tried.size === 0 ? keys : keys.filter(({ id }) => !tried.has(id));
