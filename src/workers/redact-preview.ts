/**
 * What the presets make of a sample, for people who choose them. A pure function; the pool runs it in its thread, because the
 * first run of an expression compiles it, and 32 KB made of digits may then take the event loop more than 5 ms.
 */
import { fail } from "../base/errors.ts";
import { redactor } from "./redact.ts";
import { isPreset } from "./redact-presets.ts";
import { PRESET_NAMES } from "./redaction.ts";

/** In UTF-8. */
export const MAX_SAMPLE_BYTES = 32 * 1024;

export interface RedactionPreview {
  readonly output: string;
  /** Spans replaced. */
  readonly redactions: number;
}

/** @throws WeirError `invalid_value` for a preset that does not exist, or a sample above `MAX_SAMPLE_BYTES` */
export function checkPreview(presets: readonly string[], sample: string): void {
  if (Buffer.byteLength(sample) > MAX_SAMPLE_BYTES) {
    throw fail("invalid_value", `A sample may have ${MAX_SAMPLE_BYTES} bytes.`, { param: "/sample" });
  }
  const unknown = presets.findIndex((name) => !isPreset(name));
  if (unknown < 0) return;
  throw fail("invalid_value", `The presets are ${PRESET_NAMES.join(", ")}.`, {
    param: `/presets/${unknown}`,
  });
}

/**
 * Redacts a sample as a payload: inside the strings of JSON, across the events of SSE, or as plain text. Without presets it
 * stays as it is.
 * @throws what `checkPreview` throws
 */
export function previewRedaction(presets: readonly string[], sample: string): RedactionPreview {
  checkPreview(presets, sample);
  // In the order of the list: not each order of names is compiled and kept.
  const names = PRESET_NAMES.filter((name) => presets.includes(name));
  return redactor({ presets: names, patterns: [] }).counted(sample);
}
