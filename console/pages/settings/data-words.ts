/** Words for what a data policy has. Pure. */
import type { Option } from "../../parts/field.tsx";
import type { Preset } from "./data-values.ts";

export const LOGGING_OPTIONS: readonly Option[] = [
  ["on", "Requests and answers, with the record of each call"],
  ["metadata", "Only the record: model, tokens, cost, times"],
  ["off", "Only the record, and texts never leave memory"],
];

/** What each preset finds: its name, and what it looks for. */
export const PRESETS: Readonly<Record<Preset, readonly [name: string, finds: string]>> = {
  api_key: ["API keys and tokens", "Keys of some forty vendors, bearer tokens, private keys"],
  card: ["Card numbers", "13 to 19 digits of a known network whose check digit fits"],
  email: ["E-mail addresses", "In letters of any script"],
  phone: ["Phone numbers", "International, Indian and North American ones"],
  aadhaar: ["Aadhaar numbers", "12 digits whose check digit fits"],
  pan: ["Indian PANs", "Permanent account numbers, as in ABCPE1234F"],
};

/** What found a span, in words. @param pattern place of an own pattern, from 0 */
export function ruleWords(rule: string, pattern: number | undefined): string {
  if (rule === "pattern") return pattern === undefined ? "Own pattern" : `Own pattern ${pattern + 1}`;
  return PRESETS[rule as Preset]?.[0] ?? rule;
}

/** An example with something for each preset. The numbers are made up. */
export const EXAMPLE =
  "Asha (asha.rao@example.com, +91 98765 43210) paid with 4111 1111 1111 1111.\nHer PAN is ABCPE1234F. The job runs with sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7.";
