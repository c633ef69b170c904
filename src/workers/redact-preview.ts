/**
 * What the presets make of a sample, for people who choose them. On the event loop: the sample is small, and no own patterns
 * run, so that any sample of the largest size takes less than 5 ms.
 */
import { fail } from "../errors.ts";
import { redactor } from "./redact.ts";
import { PRESET_NAMES, type PresetName } from "./redact-presets.ts";

/** In UTF-8. */
export const MAX_SAMPLE_BYTES = 32 * 1024;

export interface RedactionPreview {
  readonly output: string;
  /** Spans replaced. */
  readonly redactions: number;
}

/**
 * Redacts a sample as a payload: inside the strings of JSON, across the events of SSE, or as plain text.
 * @param presets each at most once is enough; none redacts nothing
 * @throws WeirError `invalid_value` for a preset that does not exist, or a sample above `MAX_SAMPLE_BYTES`
 */
export function previewRedaction(presets: readonly string[], sample: string): RedactionPreview {
  if (Buffer.byteLength(sample) > MAX_SAMPLE_BYTES) {
    throw fail("invalid_value", `A sample may have ${MAX_SAMPLE_BYTES} bytes.`, { param: "/sample" });
  }
  const unknown = presets.findIndex((name) => !PRESET_NAMES.includes(name as PresetName));
  if (unknown >= 0) {
    const known = PRESET_NAMES.join(", ");
    throw fail("invalid_value", `The presets are ${known}.`, { param: `/presets/${unknown}` });
  }
  // In the order of the list: not every order and repetition of names is compiled and kept.
  const names = PRESET_NAMES.filter((name) => presets.includes(name));
  return redactor({ presets: names, patterns: [] }).counted(sample);
}
