/**
 * The parts of a request's head that an operation may read, besides path and query: for sessions, directories and
 * hooks.
 */
import { fail } from "../errors.ts";

export interface HttpHead {
  /** Empty where missing; of repeated headers the first. @param name in lower case */
  header(name: string): string;
  cookie(name: string): string | undefined;
  /** Address of the client, or of the proxy in front of it: `203.0.113.7`, `2001:db8::1`. */
  readonly address: string;
  /** Whether it comes from this machine directly (`local-request.ts`). Absent: it does not. */
  readonly isFromThisMachine?: boolean;
}

/** @param key value of `Idempotency-Key`; empty where missing @throws WeirError 400 `idempotency_key_invalid` */
export function checkedIdempotencyKey(key: string): string {
  if (key === "" || /^[\x21-\x7e]{1,128}$/.test(key)) return key;
  throw fail(
    "idempotency_key_invalid",
    "Idempotency-Key must be 1 to 128 printable characters without spaces.",
    { param: "Idempotency-Key" },
  );
}
