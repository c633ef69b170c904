/**
 * Names of the redaction presets: an org's data policy lists them (account), and workers have a rule for each.
 * A redacted span is replaced by `[REDACTED:<preset>]`.
 */
export const PRESET_NAMES = ["api_key", "card", "aadhaar", "pan", "email", "phone"] as const;
export type PresetName = (typeof PRESET_NAMES)[number];
