/** What needs somebody now: its kinds, and how findings of many sources become one bounded list, worst first. */

import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Access } from "../../base/operation/access.ts";

/** Worst first. */
export const SEVERITIES = ["critical", "warning", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** In the order in which they stand within a severity. */
export const ATTENTION_KINDS = [
  "credit_low",
  "subscription_past_due",
  "auto_topup_paused",
  "auto_topup_failed",
  "budget_used_up",
  "budget_near",
  "endpoint_down",
  "canary_red",
  "webhook_disabled",
  "webhook_failing",
  "key_expiring",
  "cell_silent",
  "ticket_open",
  "payment_parked",
  "books_differ",
  "invoice_unregistered",
  "job_given_up",
  "calls_uncharged",
  "provider_without_credential",
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export const SUBJECT_TYPES = [
  "org",
  "project",
  "key",
  "subscription",
  "mandate",
  "endpoint",
  "policy",
  "webhook",
  "job",
  "provider",
  "ticket",
  "payment",
  "cell",
  "installation",
] as const;

export interface Finding {
  readonly kind: AttentionKind;
  readonly severity: Severity;
  /** A plain sentence. */
  readonly title: string;
  /** An empty name: it has none. */
  readonly subject: {
    readonly type: (typeof SUBJECT_TYPES)[number];
    readonly id: string;
    readonly name: string;
  };
  /** Undefined: it is not known. */
  readonly sinceMs: number | undefined;
  readonly details?: Readonly<Record<string, string | number>>;
  /** Path of the API that shows it. */
  readonly link?: string;
}

/** For whom findings are looked for. */
export interface Asker {
  readonly orgId: string;
  readonly environment: "live" | "test";
}

/** Port: where findings come from. Reads memory and the store, and few rows of it, for a page asks it on each view. */
export interface AttentionSource {
  /**
   * The access of the routes that show the same thing. A caller sees the finding if each of these routes lets that caller in; with
   * `operator`, if the caller is a person who is an operator.
   */
  readonly needs: readonly Access[] | "operator";
  /** Findings, in any order. A source that finds more than {@link MOST_FOUND} may leave the rest out. */
  find(asker: Asker): MaybePromise<readonly Finding[]>;
}

/** What one source looks for at most. */
export const MOST_FOUND = 500;
/** Shown of one kind. */
export const MOST_SHOWN = 20;

export interface Attention {
  readonly findings: readonly Finding[];
  /** Findings of each kind that are not shown. */
  readonly leftOut: readonly { readonly kind: AttentionKind; readonly count: number }[];
}

/** The findings worst first; of one kind the {@link MOST_SHOWN} worst. */
export function bounded(found: readonly Finding[]): Attention {
  const sorted = found.toSorted(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      ATTENTION_KINDS.indexOf(a.kind) - ATTENTION_KINDS.indexOf(b.kind) ||
      (b.sinceMs ?? 0) - (a.sinceMs ?? 0) ||
      (a.subject.id < b.subject.id ? -1 : 1),
  );
  const counts = new Map<AttentionKind, number>();
  const findings = sorted.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= MOST_SHOWN;
  });
  const leftOut = [...counts]
    .filter(([, count]) => count > MOST_SHOWN)
    .map(([kind, count]) => ({ kind, count: count - MOST_SHOWN }));
  return { findings, leftOut };
}
