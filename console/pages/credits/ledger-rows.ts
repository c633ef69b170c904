/** What entries of the ledger are called, where they lead, and how pages of CSV become one file. Pure. */
import type { Operations } from "../../api/operations.ts";

export type Entry = Operations["listLedger"]["answer"]["data"][number];
export type EntryKind = Entry["kind"];

export const KIND_WORDS: Readonly<Record<EntryKind, string>> = {
  settle: "Call",
  topup: "Top-up",
  refund: "Refund",
  grant: "Grant",
  expiry: "Expired grant",
  adjustment: "Correction",
  subscription: "Plan",
  dispute: "Dispute",
  dispute_reversal: "Dispute ended",
};

export const isKind = (text: string): text is EntryKind => Object.hasOwn(KIND_WORDS, text);

export interface Lead {
  /** The page and what follows it; undefined: it leads nowhere. */
  readonly to?: readonly string[];
  readonly text: string;
}

/** What caused an entry, and its page. */
export function causeOf(entry: Entry): Lead {
  const { request_id: request, ref_type: type = "", ref_id: id = "", details } = entry;
  if (request !== undefined) return { to: ["requests", request], text: request };
  if (details !== undefined)
    return {
      text: `in place of ${details.entries} lost entries, ${details.first_seq} to ${details.last_seq}`,
    };
  // A correction or a dispute names a top-up by its id, too.
  if (id.startsWith("tup_")) return { to: ["credits", "topups", id], text: id };
  // Refunds are listed beside top-ups, and have no page of their own.
  if (id.startsWith("rfd_")) return { to: ["credits", "topups"], text: id };
  if (id.startsWith("inv_")) return { to: ["billing", "invoices", id], text: id };
  return { text: [type, id].filter((part) => part !== "").join(" ") };
}

/** One file of the pages of a download: the first line of each names the columns, and stays once. @param pages CRLF after each row */
export const joinedCsv = (pages: readonly string[]): string =>
  pages.map((page, at) => (at === 0 ? page : page.slice(page.indexOf("\n") + 1))).join("");
