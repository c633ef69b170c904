/** What `/metrics` says of the thread that serves calls. */
import type { RoomMetrics } from "../metrics/sources.ts";
import { TURN_BUCKETS_S } from "./durations.ts";
import type { TurnWatch } from "./turn-watch.ts";

export const turnMetrics = (watch: TurnWatch): RoomMetrics => ({
  histograms: {
    weir_long_turns_seconds: {
      help: "Turns of the event loop of 1 ms and more, by what took half of them.",
      bounds: TURN_BUCKETS_S,
      read: () => {
        watch.settle();
        return watch.turns.read("what");
      },
    },
    weir_collections_seconds: {
      help: "Collections of the heap that stopped the event loop, by kind.",
      bounds: TURN_BUCKETS_S,
      read: () => watch.collections.read("kind"),
    },
  },
});
