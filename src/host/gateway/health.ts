/** Opens health and restores its saved state before the first call. */
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import type { Catalog } from "../../catalog/models/catalog.ts";
import { Health } from "../../routing/health/health.ts";
import { HealthMemory, type SavedHealth } from "../../routing/health/health-memory.ts";
import type { Store } from "../../store/store.ts";

export function openHealth(store: Store, clock: Clock, log: Logger) {
  const health = new Health(clock);
  const table = store.table<SavedHealth>("routing.health");
  const healthMemory = new HealthMemory({
    health,
    clock,
    rows: {
      *load() {
        for (const { key, value } of table.range()) yield [String(key), value];
      },
      save: (rows) =>
        store.act(() => {
          for (const [endpointId, saved] of rows) {
            if (saved === undefined) table.remove(endpointId);
            else table.put(endpointId, saved);
          }
        }),
    },
    onFailure: (err) =>
      log.error({ err }, "what is known of endpoints could not be saved; it is tried again"),
  });
  healthMemory.start();
  return { health, healthMemory };
}

/** Number of endpoints where none of the gateway's keys is usable now. */
export function endpointsOut(catalog: Catalog, health: Health): number {
  let out = 0;
  for (const { endpoints } of catalog.current().models.values()) {
    for (const endpoint of endpoints) if ((health.of(endpoint)?.outForMs ?? 0) > 0) out += 1;
  }
  return out;
}
