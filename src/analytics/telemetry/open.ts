/**
 * OpenTelemetry, where a collector is set: above all content that is redacted as records are. Only `otlp.ts` and what it imports know
 * the SDK, and they are loaded here: without a collector no module of the SDK is.
 */
import type { CallRecord } from "../../record/record.ts";
import type { Finisher } from "../outbox/finisher.ts";
import { candidatesOf } from "../requests/answer.ts";
import type { Canonical } from "../requests/lookup-operations.ts";
import type { RecordedContent, Telemetry } from "./contract.ts";
import type { TelemetrySettings } from "./settings.ts";

export interface TelemetryPorts {
  readonly redactPayload: Finisher["redactPayload"];
  readonly canonical: Canonical;
  /** The gateway's, and the name of this process among those of an installation. */
  readonly version: string;
  readonly cell: string;
  readonly log: { warn(fields: object, message: string): void };
}

/** @returns undefined where no collector is set */
export async function openTelemetryRoom(
  settings: TelemetrySettings | undefined,
  { version, cell, log, ...content }: TelemetryPorts,
): Promise<Telemetry | undefined> {
  if (settings === undefined) return undefined;
  const { openOtlp } = await import("./otlp.ts");
  return openOtlp(settings, {
    version,
    cell,
    contentOf: (record) => contentOf(content, record),
    warn: (fields, message) => log.warn(fields, message),
  });
}

async function contentOf(
  { redactPayload, canonical }: Pick<TelemetryPorts, "redactPayload" | "canonical">,
  { redact, dialectIn, request, response }: CallRecord,
): Promise<RecordedContent> {
  // Copies, made before anything is awaited: the call is over, and its memory may be used for another.
  const parts = [Uint8Array.from(request ?? NOTHING), Uint8Array.from(response ?? NOTHING)];
  const [asked = NOTHING, answered = NOTHING] = await redactPayload(redact, parts);
  return {
    request: await canonical(dialectIn, asked),
    candidates: candidatesOf(new TextDecoder().decode(answered)),
  };
}

const NOTHING = new Uint8Array(0);
