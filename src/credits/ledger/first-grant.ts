/** The credit that an installation's first org begins with. */
import type { Book } from "./book.ts";

/** Runs in the act that creates the first org. @param usd 0: none */
export function grantFirst(book: Book, orgId: string, usd: number): void {
  const amountMicroUsd = Math.round(usd * 1e6);
  if (amountMicroUsd === 0) return;
  book.post(orgId, { kind: "grant", amountMicroUsd, refType: "first_start", refId: orgId });
}
