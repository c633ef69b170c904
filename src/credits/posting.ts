/**
 * A posting: every change of a ledger that is not the charge for a call.
 * Its reference occurs once per org, so a webhook delivered three times credits once.
 */
import type { PostedEntry, PostedKind } from "./entry.ts";

export interface Posting {
  readonly kind: PostedKind;
  /** Signed, never zero: topup and grant above, refund and expiry below zero, adjustment either. */
  readonly amountMicroUsd: number;
  /** What caused it, such as `topup` and `tup_…`. The pair occurs once in an org's ledger. */
  readonly refType: string;
  readonly refId: string;
}

export type Posted =
  /** `replay`: this reference was posted before with the same kind and amount; that entry is returned. */
  | { readonly outcome: "posted"; readonly entry: PostedEntry; readonly replay: boolean }
  /** This reference was posted before with another kind or amount. Nothing was written. */
  | { readonly outcome: "reference_conflict"; readonly earlier: PostedEntry }
  /** A posting may take no more than is available. Nothing was written. */
  | { readonly outcome: "insufficient_credits"; readonly availableMicroUsd: number };

const SIGN: Record<PostedKind, 1 | -1 | 0> = { topup: 1, grant: 1, refund: -1, expiry: -1, adjustment: 0 };

/** LMDB keys are bounded, and a NUL ends a string in them. */
const isReference = (part: string): boolean => part !== "" && part.length <= 200 && !part.includes("\0");

/** @throws Error for an amount of the wrong sign or a reference that cannot be a key. */
export function checkPosting({ kind, amountMicroUsd, refType, refId }: Posting): void {
  const signed = SIGN[kind] === 0 || Math.sign(amountMicroUsd) === SIGN[kind];
  if (!Number.isSafeInteger(amountMicroUsd) || amountMicroUsd === 0 || !signed) {
    throw new Error(`not an amount of a ${kind}: ${amountMicroUsd}`);
  }
  if (!isReference(refType) || !isReference(refId)) throw new Error("a posting needs a reference");
}
