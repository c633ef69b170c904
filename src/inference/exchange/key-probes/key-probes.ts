/** Asks providers about keys that calls make look refused, counts what is found, and tells the operator's log of refusals. */
import type { Endpoint, ProviderKey } from "../../../base/endpoint.ts";
import type { Health } from "../../../routing/health/health.ts";
import { type KeyProbeDeps, probeKey } from "./probe.ts";

export interface KeyProbesDeps extends KeyProbeDeps {
  readonly health: Pick<Health, "onSuspicion" | "probed">;
  readonly log: { warn(fields: object, message: string): void };
}

/** How many questions ended so since the start. */
export type KeyProbeCounts = Record<"accepted" | "refused" | "unknown", number>;

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
