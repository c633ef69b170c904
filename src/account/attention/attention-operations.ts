/** `GET /v1/attention`: what needs somebody now, worst first, of what the caller may see. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { needsOf } from "../../base/operation/access.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listOf } from "../../base/operation/page.ts";
import { mayAs, type Role } from "../roles.ts";
import {
  ATTENTION_KINDS,
  type AttentionSource,
  bounded,
  type Finding,
  MOST_SHOWN,
  SEVERITIES,
  SUBJECT_TYPES,
} from "./finding.ts";

export interface AttentionOperationDeps {
  readonly attentionSources: readonly AttentionSource[];
  /** What concerns the installation: shown to operators, whatever org they look at. */
  readonly operatorSources: readonly AttentionSource[];
  /** Port: whether a person is an operator. */
  readonly isOperatorPerson: (personId: string) => boolean;
  /** Port: the role of a person in an org; undefined: no member. */
  readonly roleOf: (orgId: string, personId: string) => Role | undefined;
}

const kindField = z
  .enum(ATTENTION_KINDS)
  .describe(
    "`credit_low`: credit is below the org's bound, or gone; `subscription_past_due`: the plan's fee could not be taken; `auto_topup_paused`, `auto_topup_failed`: no credit is bought; `budget_used_up`, `budget_near`: 100 % or 80 % is spent; `endpoint_down`: calls fail there; `canary_red`: it gets no share any more; `webhook_disabled`, `webhook_failing`: events do not arrive; `key_expiring`: within seven days. For operators: `job_given_up`, `provider_without_credential`; and at `GET /v1/operator/attention` alone `cell_silent`: it ended without a word; `ticket_open`: a customer waits for a decision; `payment_parked`: it was not credited; `books_differ`: of the newest reconciled day; `invoice_unregistered`: the portal of e-invoices lacks documents; `calls_uncharged`: of retired cells.",
  );

const findingSchema = z.object({
  kind: kindField,
  severity: z
    .enum(SEVERITIES)
    .describe(
      "`critical`: calls are refused or fail; `warning`: they will be, or something is lost; `info`: to know.",
    ),
  title: z.string().describe("What is the matter, in a sentence."),
  subject: z
    .object({
      type: z.enum(SUBJECT_TYPES).describe("What kind of thing it is about."),
      id: z.string().describe("Which one."),
      name: z.string().describe("What it is called; empty where it has no name."),
    })
    .describe("What it is about."),
  since: z.string().nullable().describe("Since when; ISO 8601, UTC. null: not known."),
  details: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe("Figures and words of the kind."),
  link: z.string().optional().describe("Path of this API that shows more."),
});

const output = listOf(findingSchema).extend({
  left_out: z
    .array(
      z.object({
        kind: kindField,
        count: z.int().describe(`So many more of it; ${MOST_SHOWN} are listed.`),
      }),
    )
    .describe("Kinds of which not all are listed."),
});

export function attentionOperations({
  attentionSources,
  operatorSources,
  isOperatorPerson,
  roleOf,
}: AttentionOperationDeps) {
  function maySee({ needs }: AttentionSource, { actor, orgId, scopes }: Caller): boolean {
    const isPerson = actor.kind === "person";
    if (needs === "operator") return isPerson && isOperatorPerson(actor.id);
    const role = isPerson ? roleOf(orgId, actor.id) : undefined;
    return needs.map(needsOf).every(({ key, person }) => {
      if (!isPerson) return key !== undefined && scopes.has(key);
      return role !== undefined && person !== undefined && person !== "signed in" && mayAs(role, person);
    });
  }

  return {
    getAttention: operation({
      summary: "What needs somebody now, worst first",
      method: "GET",
      path: "/v1/attention",
      access: "key / everyone",
      group: "Organisations",
      output,
      errors: ["storage_unavailable"],
      async run(_input, caller) {
        const seen = attentionSources.filter((source) => maySee(source, caller));
        return await foundBy(seen, caller);
      },
    }),
    operatorGetAttention: operation({
      summary: "What needs whoever runs the installation now, worst first",
      method: "GET",
      path: "/v1/operator/attention",
      access: "operator",
      group: "Operator",
      output,
      run: (_input, caller) => foundBy(operatorSources, caller),
    }),
  };
}

async function foundBy(
  sources: readonly AttentionSource[],
  { orgId, environment }: Pick<Caller, "orgId" | "environment">,
): Promise<z.input<typeof output>> {
  const found = await Promise.all(sources.map((source) => source.find({ orgId, environment })));
  const { findings, leftOut } = bounded(found.flat());
  return { object: "list" as const, data: findings.map(findingWire), left_out: [...leftOut] };
}

const findingWire = ({ sinceMs, details, link, ...same }: Finding): z.input<typeof findingSchema> => ({
  ...same,
  since: sinceMs === undefined ? null : isoTime(sinceMs),
  ...(details !== undefined && { details: { ...details } }),
  ...(link !== undefined && { link }),
});
