/**
 * A posting: any change of a ledger except the charge for a call. Its reference is unique per org, so a webhook
 * delivered three times credits once.
 */
import type { PostedEntry, PostedKind } from "./entry.ts";

export interface Posting {
  readonly kind: PostedKind;
  /**
   * Signed, never zero: topup, grant and dispute_reversal above zero, refund, expiry, subscription and dispute below, adjustment
   * either.
   */
  readonly amountMicroUsd: number;
  /** The cause, such as `topup` and `tup_…`. The pair is unique in an org's ledger. */
  readonly refType: string;
  readonly refId: string;
  /** It takes more than is available if it must: the money has left already. */
  readonly mayOverdraw?: boolean;
}

/** `refType` of what an operator posts by hand; `refId` is then a word of the operator's, such as the id of a request. */
export const OPERATOR_REF = "operator";

export type Posted =
  /** `replay`: this reference was posted before with the same kind and amount; that entry is returned. */
  | { readonly outcome: "posted"; readonly entry: PostedEntry; readonly replay: boolean }
  /** This reference was posted before with another kind or amount. Nothing was written. */
  | { readonly outcome: "reference_conflict"; readonly earlier: PostedEntry }
  /** The posting would take more than is available. Nothing was written. */
  | { readonly outcome: "insufficient_credits"; readonly availableMicroUsd: number };

const SIGN: Record<PostedKind, 1 | -1 | 0> = {
  topup: 1,
  grant: 1,
  dispute_reversal: 1,
  refund: -1,
  expiry: -1,
  subscription: -1,
  dispute: -1,
  adjustment: 0,
};

/** LMDB keys are bounded in length, and NUL terminates a string in them. */
const isReference = (part: string): boolean => part !== "" && part.length <= 200 && !part.includes("\0");

/** @throws Error for an amount of the wrong sign or an invalid reference. */
export function checkPosting({ kind, amountMicroUsd, refType, refId }: Posting): void {
  const signed = SIGN[kind] === 0 || Math.sign(amountMicroUsd) === SIGN[kind];
  if (!Number.isSafeInteger(amountMicroUsd) || amountMicroUsd === 0 || !signed) {
    throw new Error(`not an amount of a ${kind}: ${amountMicroUsd}`);
  }
  if (!isReference(refType) || !isReference(refId)) throw new Error("a posting needs a reference");
}

/** What comes of a posting whose reference was posted before. */
export const earlierPosting = (earlier: PostedEntry, { kind, amountMicroUsd }: Posting): Posted =>
  earlier.kind === kind && earlier.amountMicroUsd === amountMicroUsd
    ? { outcome: "posted", entry: earlier, replay: true }
    : { outcome: "reference_conflict", earlier };
