/** What the form "Data policy" says of an org, and what the API is asked by it: only what differs. Pure. */
import type { Org, OrgBody } from "./org-type.ts";

type Policy = Org["data_policy"];
export type Preset = "api_key" | "card" | "aadhaar" | "pan" | "email" | "phone";

export interface DataValues {
  readonly logging: Policy["logging"];
  /** Days, as typed. */
  readonly retention: string;
  readonly isZdr: boolean;
  readonly isNoTrain: boolean;
  /** As typed, separated by commas or spaces. */
  readonly regions: string;
  readonly presets: readonly string[];
  readonly patterns: readonly string[];
}

export const dataValues = ({ data_policy: policy }: Pick<Org, "data_policy">): DataValues => ({
  logging: policy.logging,
  retention: String(policy.retention_days),
  isZdr: policy.zdr,
  isNoTrain: policy.no_train,
  regions: policy.regions.join(", "),
  presets: policy.redact.presets,
  patterns: policy.redact.patterns,
});

const MOST_DAYS = 400;

export interface DataFaults {
  readonly retention?: string;
  /** By the place of each pattern at fault. */
  readonly patterns: Readonly<Record<number, string>>;
}

/** What is wrong with each field, before the API is asked. */
export function dataFaults({ retention, patterns }: DataValues): DataFaults {
  const isDays = /^\d{1,3}$/.test(retention.trim()) && Number(retention) <= MOST_DAYS;
  const found: Record<number, string> = {};
  for (const [at, pattern] of patterns.entries()) {
    if (pattern === "") found[at] = "Type an expression, or remove it.";
    else if (patterns.indexOf(pattern) < at) found[at] = "The same is above.";
  }
  return { ...(!isDays && { retention: "A whole number of days from 0 to 400." }), patterns: found };
}

export const isFaultless = (faults: DataFaults): boolean =>
  faults.retention === undefined && Object.keys(faults.patterns).length === 0;

const listed = (text: string): readonly string[] => text.split(/[\s,]+/).filter((each) => each !== "");

/** @param values without faults @returns undefined where nothing differs */
export function dataBody(org: Pick<Org, "data_policy">, values: DataValues): OrgBody | undefined {
  const { data_policy: old } = org;
  const isSame = (one: readonly string[], other: readonly string[]) =>
    one.length === other.length && one.every((each, at) => each === other[at]);
  const regions = listed(values.regions);
  const days = Number(values.retention);
  const presets = [...values.presets] as Preset[];
  const redact = {
    ...(!isSame([...presets].sort(), [...old.redact.presets].sort()) && { presets }),
    ...(!isSame(values.patterns, old.redact.patterns) && { patterns: values.patterns }),
  };
  const policy = {
    ...(values.logging !== old.logging && { logging: values.logging }),
    ...(days !== old.retention_days && { retention_days: days }),
    ...(values.isZdr !== old.zdr && { zdr: values.isZdr }),
    ...(values.isNoTrain !== old.no_train && { no_train: values.isNoTrain }),
    ...(!isSame(regions, old.regions) && { regions }),
    ...(Object.keys(redact).length > 0 && { redact }),
  };
  return Object.keys(policy).length === 0 ? undefined : { data_policy: policy };
}

/** What a preview is asked: patterns that are there, each once; `places` says where each is in the form. */
export function previewBody(values: Pick<DataValues, "presets" | "patterns">, sample: string) {
  const places = values.patterns.flatMap((pattern, at) =>
    pattern === "" || values.patterns.indexOf(pattern) < at ? [] : [at],
  );
  const patterns = places.map((at) => values.patterns[at] ?? "");
  return { body: { presets: [...values.presets] as Preset[], patterns, sample }, places };
}
