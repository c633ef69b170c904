/** Settings of the playground, as `weir.yaml` gives them. */
import { z } from "zod";

export const playgroundField = z
  .strictObject({
    /** What each key of the playground may spend in a day, by the org's time zone; calls beyond it are refused. */
    daily_usd: z.number().min(0.000_001).max(1_000_000).default(1),
  })
  .prefault({});
