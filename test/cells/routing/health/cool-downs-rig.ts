/** What cells know of a provider's keys, and how a provider refuses one of them. */
import type { Endpoint, ProviderKey } from "../../../../src/base/endpoint.ts";
import type { Health } from "../../../../src/routing/health/health.ts";

export const key = (id: string, isByok = false): ProviderKey => ({
  id,
  poolId: "pool_x",
  hint: "abcd",
  isByok,
  credential: { kind: "bearer", secret: "s" } as unknown as ProviderKey["credential"],
});

export const endpoint = (keys: ProviderKey[]): Endpoint =>
  ({ id: "ep", model: "m", provider: { id: "x", keys } }) as unknown as Endpoint;

/** A call by one of the keys, which the provider refuses. */
export function refuse(health: Health, at: Endpoint, keys: ProviderKey[], refusal: object): void {
  const lease = health.begin(at, keys);
  if (lease === undefined) throw new Error("no key is usable");
  health.onResult(lease, { outcome: "rate_limited", errorClass: "capacity", httpStatus: 429, ...refusal });
}

export const outFor = (health: Health, at: Endpoint): number => health.of(at)?.outForMs ?? 0;
