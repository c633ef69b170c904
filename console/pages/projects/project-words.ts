/** Words for what projects have. Pure. */

/** A value, and its text. */
type Option = readonly [value: string, text: string];

export const HOLD_OPTIONS: readonly Option[] = [
  ["", "As the organisation has it"],
  ["full", "Full: refuse a call whose longest answer is not covered"],
  ["fit", "Fit: ask for a shorter answer instead"],
];

export const ENVIRONMENT_OPTIONS: readonly Option[] = [
  ["live", "Live: reaches every model, spends credit"],
  ["test", "Test: reaches simulated models, spends nothing"],
];

const LOGGING = {
  on: "what was asked and answered is kept",
  metadata: "only that calls were made is kept, not what they said",
  off: "only that calls were made is kept; what they said never leaves memory",
} as const;

interface DataPolicy {
  readonly logging: keyof typeof LOGGING;
  readonly retention_days: number;
  readonly zdr: boolean;
  readonly no_train: boolean;
  readonly regions: readonly string[];
}

/** The organisation's data policy in a sentence: it is that of every project. */
export function dataPolicyWords({
  logging,
  retention_days: days,
  zdr,
  no_train,
  regions,
}: DataPolicy): string {
  const kept = zdr || days === 0 ? LOGGING.off : LOGGING[logging];
  const length = kept === LOGGING.on ? `, ${days === 1 ? "for a day" : `for ${days} days`}` : "";
  return [
    `As the organisation has it: ${kept}${length}`,
    ...(zdr ? ["only endpoints that keep nothing"] : []),
    ...(no_train ? ["only endpoints that do not train on prompts"] : []),
    ...(regions.length > 0 ? [`only in ${regions.join(", ")}`] : []),
  ].join("; ");
}
