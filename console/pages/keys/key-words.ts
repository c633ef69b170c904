/** Words for what keys have: states, scopes, lifetimes, modes. Pure. */
import type { Option } from "../../parts/field.tsx";
import type { Tone } from "../../parts/tone.ts";
import type { Key, Scope } from "./key-values.ts";

export const STATUS_TONES: Readonly<Record<Key["status"], Tone>> = {
  active: "good",
  rotating: "warn",
  revoked: "plain",
  expired: "plain",
};

export const STATUS_OPTIONS: readonly Option[] = [
  ["", "All"],
  ["active", "Active"],
  ["rotating", "Rotating"],
  ["revoked", "Revoked"],
  ["expired", "Expired"],
];

/** What a key with each scope may do, in the order of a form. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  inference: "Call models",
  "read:usage": "Read usage and requests",
  "read:catalog": "Read models and prices",
  "read:keys": "Read keys",
  "write:keys": "Make and change keys",
  "read:billing": "Read credit and invoices",
  "write:billing": "Buy credit",
  "read:org": "Read the organisation and its projects",
  "write:org": "Change the organisation and its projects",
  "read:policies": "Read policies",
  "write:policies": "Change policies",
  "read:payloads": "Read what other keys asked and were answered",
};

/** Hours, as the API takes them. */
const LIFETIMES: readonly Option[] = [
  ["1h", "In an hour"],
  ["24h", "In a day"],
  ["168h", "In 7 days"],
  ["720h", "In 30 days"],
  ["2160h", "In 90 days"],
  ["8760h", "In a year"],
];

/** @param defaultDays of the org's settings; 0: keys never end by default */
export const newLifetimes = (defaultDays: number): readonly Option[] => [
  ["", defaultDays === 0 ? "Never" : `In ${defaultDays} days, as the organisation has it`],
  ...LIFETIMES,
];

/** @param isEnding whether the key has an end */
export const changedLifetimes = (isEnding: boolean): readonly Option[] => [
  ["", "As it is"],
  ...LIFETIMES,
  ...(isEnding ? ([["never", "Never"]] as const) : []),
];

export const HOLD_OPTIONS: readonly Option[] = [
  ["", "As the project has it"],
  ["full", "Full: refuse a call whose longest answer is not covered"],
  ["fit", "Fit: ask for a shorter answer instead"],
];

export const DISCONNECT_OPTIONS: readonly Option[] = [
  ["cancel", "Stop the call, and pay for what came"],
  ["drain", "Let it end, and pay for all"],
  ["detach", "Go on without it, to be read again"],
];

/** Seconds for which the old key works on. */
export const GRACES: readonly Option[] = [
  ["0", "Not at all"],
  ["3600", "For an hour"],
  ["86400", "For a day"],
  ["604800", "For 7 days"],
  ["2592000", "For 30 days"],
];
