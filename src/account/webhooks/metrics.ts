/** What `/metrics` says of webhooks. */
import { greatest, measured, type RoomMetrics } from "../../base/metrics/sources.ts";
import type { Outbound } from "../../outbound/send.ts";
import type { Webhooks } from "./open.ts";

export const webhookMetrics = (
  { standings, counts }: Pick<Webhooks, "standings" | "counts">,
  outbound: Pick<Outbound, "connections">,
): RoomMetrics => ({
  gauges: {
    weir_webhooks_running: measured("Deliveries to webhooks under way.", () => standings.running),
    weir_webhooks_troubled: greatest("Webhooks that are slow or fail at present.", () =>
      standings.troubled(),
    ),
    weir_webhooks_connections: measured(
      "Connections to webhooks and to addresses of media, idle ones included.",
      () => outbound.connections,
    ),
  },
  counters: {
    weir_webhooks_deliveries_total: {
      help: "Deliveries to webhooks by how they ended.",
      label: "outcome",
      read: () => counts.ended,
    },
    weir_webhooks_tries_total: {
      help: "Tries of deliveries; `spared`: the webhook was left alone because it keeps failing.",
      label: "outcome",
      read: () => counts.tries,
    },
  },
});
