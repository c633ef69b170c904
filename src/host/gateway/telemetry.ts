/** OpenTelemetry, where a collector is set: what it needs of the rooms, above all content that is redacted as records are. */
import type { Logger } from "pino";
import type { Finisher } from "../../analytics/outbox/finisher.ts";
import { candidatesOf } from "../../analytics/requests/answer.ts";
import type { Canonical } from "../../analytics/requests/lookup-operations.ts";
import type { RecordedContent, Telemetry } from "../../analytics/telemetry/contract.ts";
import { openTelemetry } from "../../analytics/telemetry/telemetry.ts";
import type { CallRecord } from "../../record/record.ts";
import type { Config } from "../settings/config.ts";
import type { StopTime } from "./stop-time.ts";
import { VERSION } from "./version.ts";

interface ContentDeps {
  readonly pool: Pick<Finisher, "redactPayload">;
  readonly canonical: Canonical;
}

export const openTelemetryRoom = (
  { telemetry, cell }: Config,
  log: Logger,
  deps: ContentDeps,
): Promise<Telemetry | undefined> =>
  openTelemetry(telemetry, {
    version: VERSION,
    cell,
    contentOf: (record) => contentOf(deps, record),
    warn: (fields, message) => log.warn(fields, message),
  });

/** Time that a stop has for spans and metrics that wait for the collector. */
const STOP_MS = 5000;

/** Sends what waits, as far as the time goes that a stop has for it: an absent collector must not make it unclean. */
export const stopTelemetry = (telemetry: Telemetry | undefined, { leftMs }: StopTime): Promise<void> =>
  telemetry?.stop(Math.min(STOP_MS, leftMs / 6)) ?? Promise.resolve();

async function contentOf(
  { pool, canonical }: ContentDeps,
  { redact, dialectIn, request, response }: CallRecord,
): Promise<RecordedContent> {
  // Copies, made before anything is awaited: the call is over, and its memory may be used for another.
  const parts = [Uint8Array.from(request ?? NOTHING), Uint8Array.from(response ?? NOTHING)];
  const [asked = NOTHING, answered = NOTHING] = await pool.redactPayload(redact, parts);
  return {
    request: await canonical(dialectIn, asked),
    candidates: candidatesOf(new TextDecoder().decode(answered)),
  };
}

const NOTHING = new Uint8Array(0);
