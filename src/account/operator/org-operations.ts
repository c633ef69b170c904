/**
 * What operators do to orgs: find, suspend, resume, give or correct credit. Each act is a row of the org's audit, with its
 * reason, so the org can see it.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type AnyOperation, type Caller, operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import type { Book } from "../../credits/ledger/book.ts";
import { OPERATOR_REF } from "../../credits/ledger/posting.ts";
import type { Trail } from "../../store/events/trail.ts";
import { plainText } from "../fields/text-field.ts";
import type { OrgRow } from "../org.ts";
import { orgShape, orgWire } from "../org-wire.ts";
import type { AccountTables } from "../tables.ts";

export interface OperatorOrgDeps {
  readonly accounts: AccountTables;
  readonly book: Book;
  readonly cursors: Cursors;
  readonly trail: Trail;
}

const orgPath = z.object({ id: z.string().max(100).describe("Id or slug") });
const reason = plainText(1000).min(1).describe("Shown to the org in its audit");
/** A million USD: more is a mistake. */
const MOST_MICRO = 1_000_000_000_000;

const seenShape = orgShape.extend({
  balance_micro_usd: z.int().describe("The org's balance, micro-USD; held credit included."),
  members: z.int().describe("How many people belong to the org, invited ones included."),
  projects: z.int().describe("How many projects the org has."),
});

const creditBody = z.strictObject({
  amount_micro_usd: z.int().min(-MOST_MICRO).max(MOST_MICRO).describe("Negative for charges."),
  reason,
  idempotency_key: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 printable characters without spaces")
    .describe("A repeated request with this key posts nothing more"),
});

const postedShape = z.object({
  seq: z.int().describe("The entry's number, from 1 without gaps."),
  kind: z.enum(["grant", "adjustment"]).describe("Kind of the ledger entry."),
  amount_micro_usd: z.int().describe("Negative for charges."),
  balance_micro_usd: z.int().describe("The org's balance after this, micro-USD."),
  created_at: field.createdAt,
  replay: z.boolean().describe("The entry was there already"),
});

export const operatorOrgOperations = (deps: OperatorOrgDeps) => ({
  ...readOperations(deps),
  ...writeOperations(deps),
});

function readOperations(deps: OperatorOrgDeps) {
  const { accounts, cursors } = deps;
  return {
    operatorListOrgs: operation({
      summary: "All orgs, newest first",
      method: "GET",
      path: "/v1/operator/orgs",
      access: "operator",
      group: "Operator",
      query: z.object({
        q: z
          .string()
          .max(200)
          .optional()
          .describe("Part of the id, slug, name or billing e-mail, in any case"),
        status: z.enum(["active", "suspended", "closed"]).optional().describe("Only orgs of this status."),
        ...pageQuery(50, 200),
      }),
      output: pageOf(orgShape),
      run({ query: { q, status, limit, cursor } }) {
        const wanted = q?.toLowerCase();
        return pageById({
          cursors,
          asked: { limit, cursor },
          list: "operator:orgs",
          rows: (after) => accounts.orgsNewestFirst(after),
          matches: (row) => (status === undefined || row.status === status) && isNamed(row, wanted),
          show: orgWire,
        });
      },
    }),
    operatorGetOrg: operation({
      summary: "An org with its balance and sizes",
      method: "GET",
      path: "/v1/operator/orgs/{id}",
      access: "operator",
      group: "Operator",
      params: orgPath,
      output: seenShape,
      errors: ["not_found"],
      async run({ params }) {
        const org = orgNamed(deps, params.id);
        await deps.book.charged();
        await deps.book.fresh([org.id]);
        return seen(deps, org);
      },
    }),
  };
}

function writeOperations(deps: OperatorOrgDeps) {
  return {
    operatorSuspendOrg: statusOperation(deps, {
      summary: "Suspend an org: its keys stop with the next call, its people can only read",
      path: "/v1/operator/orgs/{id}/suspend",
      status: "suspended",
      act: "org.suspend",
    }),
    operatorResumeOrg: statusOperation(deps, {
      summary: "End a suspension",
      path: "/v1/operator/orgs/{id}/resume",
      status: "active",
      act: "org.resume",
    }),
    operatorGrant: operation({
      summary: "Give an org credit",
      method: "POST",
      path: "/v1/operator/orgs/{id}/grant",
      access: "operator",
      group: "Operator",
      params: orgPath,
      body: creditBody,
      output: postedShape,
      status: 201,
      errors: ["not_found", "idempotency_mismatch"],
      run: ({ params, body }, caller) => postCredit(deps, caller, params.id, "grant", body),
    }),
    operatorAdjust: operation({
      summary: "Correct an org's balance, up or down",
      method: "POST",
      path: "/v1/operator/orgs/{id}/adjust",
      access: "operator",
      group: "Operator",
      params: orgPath,
      body: creditBody,
      output: postedShape,
      status: 201,
      errors: ["not_found", "idempotency_mismatch", "insufficient_credits"],
      run: ({ params, body }, caller) => postCredit(deps, caller, params.id, "adjustment", body),
    }),
  };
}

interface StatusChange {
  readonly summary: string;
  readonly path: AnyOperation["path"];
  /** The org's status from then on. */
  readonly status: "active" | "suspended";
  /** In the audit. */
  readonly act: string;
}

const statusOperation = (deps: OperatorOrgDeps, { summary, path, ...change }: StatusChange) =>
  operation({
    summary,
    path,
    method: "POST",
    access: "operator",
    group: "Operator",
    params: orgPath,
    body: z.strictObject({ reason }),
    output: seenShape,
    errors: ["not_found", "state"],
    run: ({ params, body }, caller) => setStatus(deps, caller, params.id, { ...change, reason: body.reason }),
  });

const isNamed = (row: OrgRow, q: string | undefined): boolean =>
  q === undefined ||
  [row.id, row.slug, row.name, row.billingEmail].some((text) => text.toLowerCase().includes(q));

const orgNamed = ({ accounts }: OperatorOrgDeps, idOrSlug: string): OrgRow =>
  mustExist(accounts.orgByIdOrSlug(idOrSlug), "organisation");

const seen = ({ accounts, book }: OperatorOrgDeps, org: OrgRow): z.input<typeof seenShape> => ({
  ...orgWire(org),
  balance_micro_usd: book.balance(org.id).balanceMicroUsd,
  members: accounts.people.membersOf(org.id).length,
  projects: accounts.projectsOf(org.id).length,
});

/** A repeat changes nothing. */
async function setStatus(
  deps: OperatorOrgDeps,
  caller: Caller,
  idOrSlug: string,
  { status, act, reason }: Pick<StatusChange, "status" | "act"> & { readonly reason: string },
) {
  const { accounts, trail } = deps;
  return await accounts.act(() => {
    const old = orgNamed(deps, idOrSlug);
    if (old.status === "closed") throw fail("state", "The organisation is closed.");
    if (old.status !== status) {
      accounts.replaceOrg({ ...old, status });
      trail.audit.note(caller, {
        act,
        target: old.id,
        orgId: old.id,
        reason,
        before: { status: old.status },
        after: { status },
      });
    }
    return seen(deps, { ...old, status });
  });
}

/** The reference of the entry is the idempotency key, so the ledger itself refuses to post it twice. */
async function postCredit(
  deps: OperatorOrgDeps,
  caller: Caller,
  idOrSlug: string,
  kind: "grant" | "adjustment",
  { amount_micro_usd: amountMicroUsd, reason, idempotency_key: refId }: z.output<typeof creditBody>,
): Promise<z.input<typeof postedShape>> {
  const { accounts, book, trail } = deps;
  if (amountMicroUsd === 0 || (kind === "grant" && amountMicroUsd < 0)) {
    throw fail("invalid_value", "A grant is above zero, an adjustment is not zero.", {
      param: "/amount_micro_usd",
    });
  }
  return await accounts.act(() => {
    const org = orgNamed(deps, idOrSlug);
    const posted = book.post(org.id, { kind, amountMicroUsd, refType: OPERATOR_REF, refId });
    if (posted.outcome === "reference_conflict") {
      throw fail("idempotency_mismatch", "This idempotency_key posted something else.", {
        param: "/idempotency_key",
      });
    }
    if (posted.outcome === "insufficient_credits") {
      const { availableMicroUsd } = posted;
      throw fail("insufficient_credits", `Only ${availableMicroUsd} micro-USD are available to take.`, {
        param: "/amount_micro_usd",
      });
    }
    const { entry, replay } = posted;
    if (!replay) {
      const after = { amount_micro_usd: amountMicroUsd, balance_micro_usd: entry.balanceMicroUsd };
      trail.audit.note(caller, { act: `credits.${kind}`, target: org.id, orgId: org.id, reason, after });
    }
    return {
      seq: entry.seq,
      kind,
      amount_micro_usd: entry.amountMicroUsd,
      balance_micro_usd: entry.balanceMicroUsd,
      created_at: isoTime(entry.createdAtMs),
      replay,
    };
  });
}
