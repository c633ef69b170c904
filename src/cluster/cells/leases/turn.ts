/** One exchange about credit: what is sent of each org and budget, and what is answered. */
import type { Operation } from "../exchange/exchange.ts";
import type { Batch } from "./charges.ts";
import type { LeaseAnswer, OrgLease } from "./lease.ts";
import type { ScopeLease } from "./scope-lease.ts";
import type { ScopeLeases } from "./scope-leases.ts";

/** What goes with exchanges about credit. */
export type AnyLease = OrgLease | ScopeLease;

export interface Sent {
  readonly lease: AnyLease;
  /** Sum of its charges that went along. */
  readonly sumMicroUsd: number;
  readonly givesBack: boolean;
}

export interface Turn {
  readonly batch: Batch | undefined;
  readonly sent: readonly Sent[];
  readonly operation: Operation;
}

/** Charges of an org. */
export interface Sum {
  readonly count: number;
  readonly sumMicroUsd: number;
}

/** What the operation "credit" answers, where it was taken. */
export type TurnAnswer = [
  isTaken: number,
  values: number[],
  wanted: Buffer[],
  spends: unknown[],
  wantedScopes: Buffer[],
  crossed: unknown[],
  redisMs: number,
  shiftMs: number,
  changes: number,
];

/** Values of an org in the answer. */
const ANSWER_VALUES = 7;

/** @param sums every org and budget that goes along, with its charges of the batch */
export function turnOf(
  batch: Batch | undefined,
  sums: ReadonlyMap<AnyLease, Sum>,
  budgets: ScopeLeases,
  nowMs: number,
): Turn {
  const sent: Sent[] = [];
  const orgs: (string | number)[] = [];
  const scopes: (string | number)[] = [];
  for (const [lease, { count, sumMicroUsd }] of sums) {
    sent.push({ lease, sumMicroUsd, givesBack: lease.givesBack });
    if (lease.kind === "budget") {
      const period = budgets.periodOf(lease.scope?.timeZone ?? "UTC");
      scopes.push(...lease.part(batch?.scopes.sums.get(lease.id), nowMs, period));
      continue;
    }
    const { heldMicroUsd, targetMicroUsd, need } = lease.ask(sumMicroUsd, nowMs);
    orgs.push(lease.id, count, sumMicroUsd, heldMicroUsd, targetMicroUsd, need);
  }
  const { after, last, mark } = batch ?? { after: 0, last: 0, mark: "" };
  return { batch, sent, operation: ["credit", after, last, mark, orgs, scopes] };
}

/** What was answered of one org. */
export interface OrgAnswer {
  readonly org: OrgLease;
  readonly sumMicroUsd: number;
  /** Number of its first charge; 0: it had none. */
  readonly first: number;
  readonly balanceBeforeMicroUsd: number;
  readonly answer: LeaseAnswer;
}

/** Answers about the orgs, in their order; budgets have values of their own. */
export function* answersOf({ sent }: Turn, values: readonly number[]): Generator<OrgAnswer> {
  let at = 0;
  for (const { lease: org, sumMicroUsd } of sent) {
    if (org.kind === "budget") continue;
    const of = values.slice(at, at + ANSWER_VALUES) as OrgValues;
    const [first, balanceBeforeMicroUsd, leaseMicroUsd, balanceMicroUsd, ...rest] = of;
    const [freeMicroUsd, availableMicroUsd, outcome] = rest;
    at += ANSWER_VALUES;
    const answer = { leaseMicroUsd, balanceMicroUsd, freeMicroUsd, availableMicroUsd, outcome };
    yield { org, sumMicroUsd, first, balanceBeforeMicroUsd, answer };
  }
}

type OrgValues = [
  first: number,
  before: number,
  lease: number,
  balance: number,
  free: number,
  available: number,
  outcome: number,
];
