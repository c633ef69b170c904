/** Opens health and restores its saved state before the first call. */
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { Health } from "./health.ts";
import { HealthMemory, type SavedHealth } from "./health-memory.ts";

export interface HealthPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OpenHealth {
  readonly health: Health;
  readonly healthMemory: HealthMemory;
}

export function openHealth({ store, clock, log }: HealthPorts): OpenHealth {
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
