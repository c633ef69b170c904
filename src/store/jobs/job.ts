/**
 * A job is work that outlives its request: a row of the store, put in the act that asks for it, due at a time. What leaves
 * the process (a mail, a webhook, a call to a payment gateway) is a job, so that it happens although the process dies.
 *
 * A job runs at least once: a process that dies in the middle leaves it to the next one. Its key stays the same over all
 * tries, so whoever receives the effect can tell a repetition.
 */
import type { z } from "zod";
import type { MaybePromise } from "../../base/maybe-promise.ts";

export interface JobKind<P = unknown> {
  /** Room and verb: `webhooks.deliver`. */
  readonly name: string;
  /** Checked before each run: an earlier release may have written the row. */
  readonly payload: z.ZodType<P>;
  /**
   * Tries, the first one included; then the job is given up, and an operator decides. The end of the process counts as one only
   * for a job that met several in a row.
   */
  readonly tries: number;
  /** Wait after a failed try: doubled each time, each wait between half and the whole of that. */
  readonly backoff: { readonly firstMs: number; readonly mostMs: number };
  /** Runs at the same time in this process. */
  readonly atOnce: number;
  /** Runs of one lane at the same time: so a slow lane leaves room for others. */
  readonly atOncePerLane: number;
  /**
   * It goes on when its org is erased, because money is under way: its payload holds ids of rows that stay, and nothing else.
   * Default: false.
   */
  readonly isKeptOnErasure?: boolean;
  /** How long a run may take before another process may take the job over; renewed while it runs. */
  readonly leaseMs: number;
}

/** Fixes the payload's type. */
export const jobKind = <P>(kind: JobKind<P>): JobKind<P> => kind;

export interface JobOrder<P> {
  /** Identifies the work: a second job of this key is not added while the first one waits or runs. Default: a new id. */
  readonly key?: string;
  /** Jobs of one lane share a limit; usually the org or the receiver. Default: the org. */
  readonly lane?: string;
  /** Empty for work of the installation. */
  readonly orgId: string;
  /** Wall clock. Default: now. */
  readonly dueMs?: number;
  readonly payload: P;
}

/** A job as its run sees it. */
export interface JobRun {
  /** The same in each try: an idempotency key for the effect. */
  readonly key: string;
  readonly orgId: string;
  readonly createdAtMs: number;
  /** 1 in the first try. */
  readonly attempt: number;
  /** Aborted when the process stops: the job then runs again after the next start, and the try does not count. */
  readonly signal: AbortSignal;
}

/** How a run ended, if it did not throw. */
export interface JobEnding {
  /** Runs in the act that ends the job: what the run found out, and its events. It only reads and puts. */
  readonly act?: () => void;
  /** The job stays and is due again then; its tries start anew. */
  readonly againAtMs?: number;
}

/** Thrown by a run that no later try would end otherwise: the job is given up at once. The message is shown to operators. */
export class FinalFailure extends Error {
  override readonly name = "FinalFailure";
}

export interface JobHandler<P> {
  /**
   * @throws FinalFailure, to give the job up; anything else, for another try later. The message is shown to operators, so it
   *   holds no secret
   */
  run(payload: P, job: JobRun): MaybePromise<JobEnding | undefined>;
  /** In the act that gives the job up. */
  gaveUp?(payload: P, job: JobRun, error: string): void;
}

export interface JobRow {
  readonly kind: string;
  readonly key: string;
  readonly lane: string;
  readonly orgId: string;
  readonly payload: unknown;
  readonly createdAtMs: number;
  /** When it may run; of a given-up job, when it was given up. */
  readonly dueMs: number;
  /** Tries that began and count (interruption.ts), since it was added or last ended with `againAtMs`. */
  readonly tries: number;
  /** Tries in a row that ended with their process; absent in rows of earlier releases. */
  readonly interrupted?: number;
  /** Begins at random, and rises with each claim: a run whose number is not the row's has lost the job to another process. */
  readonly fence: number;
  readonly state: "waiting" | "running" | "given_up";
  /** Who runs a running job, and until when nobody else may run it. */
  readonly holder: string;
  readonly leaseEndsAtMs: number;
  /** Why the last try failed; empty if none did. */
  readonly error: string;
}

function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an error that has no text";
  }
}

/** Text of an error for the row; of an own length, because it may repeat an answer. */
export function errorText(error: unknown): string {
  const text = textOf(error);
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
