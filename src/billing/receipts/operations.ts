/** Receipts of calls, and the keys that verify them. */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { NO_REQUEST_ID, REQUEST_ID } from "../../base/ids.ts";
import { answer, raw } from "../../base/operation/answer.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import type { Book } from "../../credits/ledger/book.ts";
import { entryOfCall, NEAR_END } from "../../credits/ledger/entry-of-call.ts";
import type { ShownEntry } from "../../credits/ledger/shown-list.ts";
import { type CallRecord, endedAtMs, isCharged } from "../../record/record.ts";
import { LEAST_AGE_MS, RECEIPT_ALG, type ReceiptKeys } from "./keys.ts";
import { JOSE_TYPE, receiptOf, signReceipt } from "./receipt.ts";

export interface ReceiptDeps {
  readonly keys: ReceiptKeys;
  readonly clock: Clock;
  /** Address of the gateway, as clients know it. */
  readonly issuer: () => string;
  /** Port: the record of a call that the caller may see. @throws WeirError 404, 503 */
  readonly recordOf: (caller: Caller, requestId: string) => Promise<CallRecord>;
  readonly ledger: Pick<Book, "list">;
}

/** How long a verifier may keep the keys before it asks again. */
const KEYS_AGE_S = 3600;
const RETRY_MS = 1000;

const keySchema = z.object({
  kty: z.literal("OKP").describe("Kind of key, RFC 8037"),
  crv: z.literal("Ed25519").describe("The curve"),
  x: z.string().describe("The public key, base64url"),
  kid: z.string().describe("Its thumbprint, RFC 7638; receipts name it in their header"),
  alg: z.literal(RECEIPT_ALG).describe("The signature's algorithm"),
  use: z.literal("sig").describe("It signs"),
});

export function receiptOperations(deps: ReceiptDeps) {
  return {
    getReceipt: operation({
      summary: "A signed receipt of one call: a JWS, which `weir verify-receipt` checks offline",
      method: "GET",
      path: "/v1/generation/{id}/receipt",
      access: "read:usage / viewer",
      group: "Usage",
      params: z.object({
        id: z.string().regex(REQUEST_ID, NO_REQUEST_ID).describe("Request id of the call."),
      }),
      output: z.undefined(),
      otherTypes: [JOSE_TYPE],
      errors: ["not_found", "analytics_unavailable", "state"],
      run: async ({ params }, caller) => raw(JOSE_TYPE, await receiptFor(deps, caller, params.id)),
    }),
    getReceiptKeys: operation({
      summary: "Public keys of receipts (RFC 7517), those of before included",
      method: "GET",
      path: "/.well-known/jwks.json",
      access: "public",
      group: "Usage",
      output: z.object({ keys: z.array(keySchema).describe("The newest first") }),
      async run() {
        await deps.keys.signer();
        const headers = { "cache-control": `public, max-age=${KEYS_AGE_S}` };
        return answer({ keys: deps.keys.published() }, { headers });
      },
    }),
    rotateReceiptKey: operation({
      summary: "Sign receipts with a new key from now on; the old one stays published",
      method: "POST",
      path: "/v1/operator/receipt-keys/rotate",
      access: "operator",
      group: "Operator",
      output: z.object({ kid: z.string().describe("Id of the key that signs now") }),
      errors: ["state"],
      async run() {
        const { kid, createdAtMs } = await deps.keys.signer();
        if (deps.clock.now() - createdAtMs < LEAST_AGE_MS)
          throw fail("state", "The key that signs was made less than a minute ago.");
        return { kid: (await deps.keys.rotate(kid)).kid };
      },
    }),
  };
}

async function receiptFor(deps: ReceiptDeps, caller: Caller, requestId: string): Promise<string> {
  const record = await deps.recordOf(caller, requestId);
  const entry = isCharged(record) ? await chargeOf(deps, record) : undefined;
  // Without its entry it would say that the call was free.
  if (isCharged(record) && entry?.amountMicroUsd !== -record.cost.total_micro_usd)
    throw fail("state", "The ledger's entry of this call was not found near its time: ask the operator.");
  const receipt = receiptOf(record, entry, { iss: deps.issuer(), nowMs: deps.clock.now() });
  return await signReceipt(receipt, await deps.keys.signer());
}

/** @throws WeirError `analytics_unavailable` where it is not found, and entries near its time are not listed yet */
async function chargeOf({ ledger }: ReceiptDeps, record: CallRecord): Promise<ShownEntry | undefined> {
  const { requestId, orgId } = record;
  const place = { requestId, aboutMs: endedAtMs(record), reach: NEAR_END };
  const { entry, missingSinceMs } = await entryOfCall(ledger, orgId, place);
  if (missingSinceMs === undefined) return entry;
  throw fail("analytics_unavailable", "Entries of the ledger near the end of this call are not listed yet.", {
    retryAfterMs: RETRY_MS,
  });
}
