/**
 * The redaction presets. Each finds its spans in linear time. Patterns never match a backslash or a quote and never begin
 * inside an escape, so that a text that contains JSON (tool arguments) stays JSON. docs/redaction.md says what each finds.
 */

import type { PayloadLook } from "./payload-look.ts";
import { emails, holdsAt, mayHoldPan, mayHoldPhone, pans, phones } from "./redact-contacts.ts";
import { API_KEYS } from "./redact-keys.ts";
import { aadhaars, cards, holdsLongNumber } from "./redact-numbers.ts";
import { type Finder, regexSpans } from "./redact-spans.ts";
import type { PresetName } from "./redaction.ts";

const mayHoldKey = (look: PayloadLook): boolean => look.mayHoldKey;
const mayHoldNumber = (look: PayloadLook): boolean =>
  look.hasLongNumeric && (look.isBrief || holdsLongNumber(look.latin1));

/**
 * A fast check first: what has not the hint has no match of the preset. Presets may share a hint, which is then tested
 * once.
 */
export const HINTS: Readonly<Record<PresetName, (look: PayloadLook) => boolean>> = {
  api_key: mayHoldKey,
  card: mayHoldNumber,
  aadhaar: mayHoldNumber,
  pan: (look) => look.isBrief || mayHoldPan(look.latin1),
  email: (look) => look.hasAtSign && holdsAt(look.latin1),
  phone: (look) => look.isBrief || mayHoldPhone(look.latin1),
};

const FINDERS: Readonly<Record<PresetName, Finder>> = {
  api_key: (text) => regexSpans(text, API_KEYS),
  card: cards,
  aadhaar: aadhaars,
  pan: pans,
  email: emails,
  phone: phones,
};

/** What the preset finds in a text that is `folded`. @param look at the text's bytes */
export const findPreset = (
  name: PresetName,
  text: string,
  look: PayloadLook,
): Iterable<readonly [number, number]> => (HINTS[name](look) ? FINDERS[name](text) : []);

export const isPreset = (name: string): name is PresetName => Object.hasOwn(FINDERS, name);
