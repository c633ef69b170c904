/**
 * OpenTelemetry: traces and metrics of model calls. Only `otlp.ts` and what it imports know the SDK, and they are loaded where a
 * collector is set: without one no module of the SDK is.
 */

import type { Telemetry, TelemetryDeps } from "./contract.ts";
import type { TelemetrySettings } from "./settings.ts";

/** Undefined where no collector is set. */
export async function openTelemetry(
  settings: TelemetrySettings | undefined,
  deps: TelemetryDeps,
): Promise<Telemetry | undefined> {
  if (settings === undefined) return undefined;
  const { openOtlp } = await import("./otlp.ts");
  return openOtlp(settings, deps);
}
