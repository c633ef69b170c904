/**
 * The job that erases an org's data when its time has come. It goes through a list of steps (erasure-steps.ts), so it can be
 * killed anywhere and begins again without harm. The org's row stays, without anything personal, because ledger and invoices name
 * its id.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { systemCaller } from "../../base/operation/keyless.ts";
import type { Trail } from "../../store/events/trail.ts";
import { eventType } from "../../store/events/types.ts";
import { type JobEnding, type JobHandler, jobKind } from "../../store/jobs/job.ts";
import { orgClosed } from "../account-events.ts";
import { type Closing, type CreditLeft, closingWire } from "../credit-left.ts";
import { newOrg, type OrgRow } from "../org.ts";
import { orgWire } from "../org-wire.ts";
import { type AccountTables, nameless } from "../tables.ts";
import { type ErasureStep, runStep, type StepDeps } from "./erasure-steps.ts";

export const eraseOrg = jobKind({
  name: "account.erase",
  payload: z.object({ orgId: z.string() }),
  tries: 50,
  // Soon at first: ClickHouse is mostly away for seconds, while it is started again.
  backoff: { firstMs: 5_000, mostMs: 6 * 3_600_000 },
  atOnce: 1,
  atOncePerLane: 1,
  leaseMs: 120_000,
});

export const erasureDone = eventType("erasure.done", z.object({ id: z.string(), erased_at: z.string() }));

export interface ErasureDeps extends StepDeps {
  readonly accounts: AccountTables;
  readonly trail: Trail;
  /** Port: in an act, what the org's credit is then. */
  readonly creditLeft: (orgId: string) => CreditLeft;
  /** Tells the org's people while their addresses are there. */
  readonly mails: {
    /** Port: in an act. @returns what each mail is called */
    readonly putBegun: (orgId: string, name: string) => readonly string[];
    /** Port: false while that mail waits to be sent. */
    readonly isOut: (mail: string) => boolean;
  };
  /** In this order; what shows who did something comes last. */
  readonly steps: readonly ErasureStep[];
  /** Port: for the operator's log. */
  readonly onErased: (orgId: string) => void;
  /** Port: bytes of removed rows leave the store's files at the next chance. */
  readonly forgetRemoved: () => Promise<void>;
}

/** What is outside of the store is asked again after this time. */
const AGAIN_MS = 5000;
/** Calls that ran when the job closed the org have ended by then, and what they left is removed in a second round. */
const LATE_MS = 20 * 60_000;
/** A mail is out within that time, if all is well; then less and less often. */
const FIRST_AGAIN_MS = 250;
/** A mail server that is away holds the erasure up no longer than this. */
const MOST_TELLING_MS = 3_600_000;

export function erasureHandler(deps: ErasureDeps): JobHandler<{ orgId: string }> {
  const { accounts, clock } = deps;
  return {
    async run({ orgId }, job): Promise<JobEnding | undefined> {
      const org = accounts.org(orgId);
      // Cancelled, by a way that left the job behind.
      if (org === undefined || (org.erasureDueAtMs === null && org.erasedAtMs === undefined))
        return undefined;
      if (org.erasureDueAtMs !== null && clock.now() < org.erasureDueAtMs)
        return { againAtMs: org.erasureDueAtMs };
      // Cancelled meanwhile.
      if (!(await accounts.act(() => begin(deps, orgId)))) return undefined;
      const tellingForMs = tellingFor(deps, orgId);
      if (tellingForMs !== undefined)
        return { againAtMs: clock.now() + Math.min(AGAIN_MS, FIRST_AGAIN_MS + tellingForMs) };
      for (const step of deps.steps) {
        const isOver = await runStep(deps, step, orgId, job.signal);
        if (!isOver) return { againAtMs: clock.now() + AGAIN_MS };
      }
      await deps.forgetRemoved();
      // Closed long ago: no call can be under way any more.
      const isLate = clock.now() - (accounts.org(orgId)?.closedAtMs ?? 0) >= LATE_MS;
      return {
        act: () => finish(deps, orgId),
        ...(!isLate && { againAtMs: clock.now() + LATE_MS }),
      };
    },
  };
}

const BY_ERASURE: Closing = { by: "erasure", ticketId: "", refundRequested: false };

/**
 * In an act: keys stop with it, as when the owner closes the org. A run that follows changes nothing.
 * @returns whether the erasure goes on
 */
function begin({ accounts, clock, trail, mails, creditLeft }: ErasureDeps, orgId: string): boolean {
  const org = accounts.org(orgId);
  if (org === undefined) return false;
  if (org.erasureBegunAtMs !== undefined || org.erasedAtMs !== undefined) return true;
  if (org.erasureDueAtMs === null) return false;
  const nowMs = clock.now();
  const closed: OrgRow = {
    ...org,
    erasureBegunAtMs: nowMs,
    erasureMails: mails.putBegun(orgId, org.name),
    ...(org.status !== "closed" && { status: "closed", closedAtMs: nowMs }),
  };
  accounts.replaceOrg(closed);
  if (org.status !== "closed") {
    const closing = closingWire(BY_ERASURE, creditLeft(orgId));
    trail.events.emit(orgClosed, orgId, { ...orgWire(closed), closing });
  }
  return true;
}

/** For how long mails have been waiting that people must get first; undefined: for none, or long enough. */
function tellingFor({ accounts, clock, mails }: ErasureDeps, orgId: string): number | undefined {
  const org = accounts.org(orgId);
  if (org?.erasureBegunAtMs === undefined || org.erasedAtMs !== undefined) return undefined;
  // A clock may be set back.
  const forMs = Math.max(0, clock.now() - org.erasureBegunAtMs);
  const areOut = (org.erasureMails ?? []).every(mails.isOut);
  return forMs < MOST_TELLING_MS && !areOut ? forMs : undefined;
}

/**
 * In an act: what is left of the org's row. Money needs country, currency and plan; everything that somebody chose goes. Told once,
 * however often the job runs.
 */
function finish({ accounts, clock, trail, onErased }: ErasureDeps, orgId: string): void {
  const org = accounts.org(orgId);
  if (org === undefined || org.erasedAtMs !== undefined) return;
  const nowMs = clock.now();
  const { kind, billingCountry, planId } = org;
  const bare = newOrg({ slug: nameless(orgId), name: "", kind, billingCountry, planId }, org.createdAtMs);
  accounts.replaceOrg({
    ...bare,
    id: orgId,
    status: "closed",
    billingCurrency: org.billingCurrency,
    taxStatus: org.taxStatus,
    timeZone: org.timeZone,
    closedAtMs: org.closedAtMs,
    erasureRequestedAtMs: null,
    erasureDueAtMs: null,
    erasedAtMs: nowMs,
  });
  const erasedAt = isoTime(nowMs);
  const caller = systemCaller(eraseOrg.name, orgId);
  trail.audit.note(caller, { act: "org.erase", target: orgId, after: { erased_at: erasedAt } });
  trail.events.emit(erasureDone, orgId, { id: orgId, erased_at: erasedAt });
  onErased(orgId);
}
