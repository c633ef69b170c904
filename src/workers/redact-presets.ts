/**
 * The redaction presets. Each finds its spans in linear time. Patterns never match a backslash or a quote and never begin
 * inside an escape, so that a text that contains JSON (tool arguments) stays JSON. docs/redaction.md says what each finds.
 */

import { emails, holdsAt, mayHoldPan, mayHoldPhone, pans, phones } from "./redact-contacts.ts";
import { API_KEYS, mayHoldKey } from "./redact-keys.ts";
import { aadhaars, cards, mayHoldNumber } from "./redact-numbers.ts";
import { type Finder, regexSpans } from "./redact-spans.ts";
import type { PresetName } from "./redaction.ts";

/**
 * A fast check first: a text without the hint has no match of the preset. Presets may share a hint, which is then tested
 * once.
 */
export const HINTS: Readonly<Record<PresetName, (text: string) => boolean>> = {
  api_key: mayHoldKey,
  card: mayHoldNumber,
  aadhaar: mayHoldNumber,
  pan: mayHoldPan,
  email: holdsAt,
  phone: mayHoldPhone,
};

const FINDERS: Readonly<Record<PresetName, Finder>> = {
  api_key: (text) => regexSpans(text, API_KEYS),
  card: cards,
  aadhaar: aadhaars,
  pan: pans,
  email: emails,
  phone: phones,
};

/** What the preset finds in a text that is `folded`. */
export const findPreset = (name: PresetName, text: string): Iterable<readonly [number, number]> =>
  HINTS[name](text) ? FINDERS[name](text) : [];

export const isPreset = (name: string): name is PresetName => Object.hasOwn(FINDERS, name);
