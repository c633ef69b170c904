/** What `/metrics` says of endpoints and the gateway's own keys there. */
import type { Endpoint } from "../../base/endpoint.ts";
import { greatest, type RoomMetrics } from "../../base/metrics/sources.ts";
import type { Health } from "./health.ts";

/** @param endpoints those of the catalog as it is now */
export const healthMetrics = (
  health: Pick<Health, "keysCooling" | "of">,
  endpoints: () => Iterable<Endpoint>,
): RoomMetrics => ({
  gauges: {
    weir_upstream_keys_cooling: greatest("Provider keys that cool down at one endpoint at least.", () =>
      health.keysCooling(),
    ),
    weir_endpoints_saturated: greatest("Endpoints where no key of the gateway's is usable now.", () => {
      let out = 0;
      for (const endpoint of endpoints()) if ((health.of(endpoint)?.outForMs ?? 0) > 0) out += 1;
      return out;
    }),
  },
});
