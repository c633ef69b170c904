/** The plan of a call as data: the endpoints that were considered, in their order, and why others were not. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import { sortShape } from "../../base/route-schema.ts";
import type { CallRecord } from "../../record/record.ts";

/** An endpoint that a plan considered. */
interface Considered {
  readonly endpointId: string;
  /** As the catalog has it now; undefined where it has the endpoint no more. */
  readonly provider: string | undefined;
  readonly region: string | undefined;
  readonly reason: string;
}

/** A plan, as the record's line has it. */
export interface RecordedPlan {
  readonly sort: z.input<typeof sortShape>;
  /** Endpoint that was chosen for a copy of the call; empty: none. */
  readonly shadow: string;
  /** In the order to try. `costMicroUsd` is what the sort by price compared. */
  readonly tried: readonly (Considered & { readonly costMicroUsd: number | undefined })[];
  readonly excluded: readonly (Considered & { readonly kind: string })[];
}

/** Port: reads the plan of a record's `routeTrace`; undefined where it has none, or one that cannot be read. */
export type PlanOf = (record: CallRecord) => RecordedPlan | undefined;

const NOT_KNOWN = "; null where the catalog has it no more";

const consideredSchema = z.object({
  endpoint_id: field.endpointId,
  provider: z.string().nullable().describe(`Who runs the endpoint${NOT_KNOWN}.`),
  region: z.string().nullable().describe(`Where the endpoint runs${NOT_KNOWN}.`),
  order: z.int().min(1).nullable().describe("Place in the order to try, from 1; null: it was left out."),
  attempted: z.boolean().describe("Whether it was asked."),
  chosen: z.boolean().describe("Whether it answered, or was asked last where none did."),
  reason: z.string().nullable().describe("Why it has this place; null where it was left out."),
  excluded: z
    .string()
    .nullable()
    .describe(
      "What left it out, in a word: `status`, `environment`, `capability`, `context`, `data_policy`, `region`, `price`, `route`, `saturated`, `refused`; null where it may be tried.",
    ),
  excluded_because: z.string().nullable().describe("The same in a sentence."),
  est_cost_micro: z
    .int()
    .min(0)
    .optional()
    .describe(
      "What the call was expected to cost there, micro-USD, by three digits. Only where the order went by price.",
    ),
});

export const planSchema = z
  .object({
    policy: z.string().nullable().describe("The routing policy in force; null: none."),
    policy_version: z.int().nullable().describe("Its version; null without a policy."),
    rule: z.string().nullable().describe("The rule of it that matched; null: none did."),
    sort: sortShape,
    considered: z
      .array(consideredSchema)
      .describe("The endpoints: first those to try, in their order, then those that were left out."),
    notes: z.array(z.string()).describe("What else decided, in sentences."),
  })
  .nullable()
  .describe(
    "How the endpoints were chosen: what `route_trace` says, as data. Null where none was considered, as for a call that a policy forbids, and for records of early releases.",
  );

/** @param plan undefined where the record has none */
export function planWire(record: CallRecord, plan: RecordedPlan | undefined): z.input<typeof planSchema> {
  if (plan === undefined) return null;
  const { policy, policyVersion, rule } = record;
  const asked = new Set(record.attempts.map(({ endpointId }) => endpointId));
  const same = ({ endpointId, provider, region }: Considered) => {
    const isChosen = endpointId === record.endpointId;
    const attempt = record.attempts.find((one) => one.endpointId === endpointId);
    return {
      endpoint_id: endpointId,
      provider: provider ?? attempt?.provider ?? null,
      region: region ?? (isChosen ? record.region : null),
      attempted: asked.has(endpointId),
      chosen: isChosen && asked.has(endpointId),
    };
  };
  return {
    policy: policy === "" ? null : policy,
    policy_version: policy === "" ? null : policyVersion,
    rule: rule === "" ? null : rule,
    sort: plan.sort,
    considered: [
      ...plan.tried.map((one, at) => ({
        ...same(one),
        order: at + 1,
        reason: one.reason,
        excluded: null,
        excluded_because: null,
        ...(one.costMicroUsd !== undefined && { est_cost_micro: one.costMicroUsd }),
      })),
      ...plan.excluded.map((one) => ({
        ...same(one),
        order: null,
        reason: null,
        excluded: one.kind,
        excluded_because: one.reason,
      })),
    ],
    notes: notesOf(record, plan),
  };
}

function notesOf({ policy, rule, canary, experiment, arm }: CallRecord, { shadow }: RecordedPlan): string[] {
  const notes: string[] = [];
  if (policy === "") notes.push("No routing policy is in force.");
  else if (rule === "") notes.push("No rule of the policy matches: its defaults apply.");
  if (canary !== "") notes.push(`The call is in the share of the canary ${canary}.`);
  if (arm !== "") notes.push(`The call is in arm ${arm} of the experiment ${experiment}.`);
  if (shadow !== "") notes.push(`A copy of the call is for ${shadow} (shadow).`);
  return notes;
}
