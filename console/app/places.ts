/**
 * Where the console shows a thing that an event or a row of the audit names. Only pages that the console has, and that the person's role
 * opens, are led to: a page that comes later is led to from the day it is among the pages.
 */
import type { Name } from "../api/call.ts";
import { mayCall } from "./session.ts";

interface Row {
  /** The page and what follows it. */
  readonly to: (id: string) => readonly string[];
  /** What the page there asks for, beside what its first page does. */
  readonly needs?: readonly Name[];
}

const inPage = (...to: readonly string[]): Row => ({ to: (id) => [...to, id] });
const page = (...to: readonly string[]): Row => ({ to: () => to });

/** By what a thing is: the first part of an act or of an event's type. */
const PLACES: Readonly<Record<string, Row>> = {
  key: inPage("keys"),
  playground: inPage("keys"),
  webhook: { ...inPage("webhooks"), needs: ["getWebhook"] },
  app: inPage("apps"),
  ticket: inPage("tickets"),
  topup: { ...inPage("credits", "topups"), needs: ["getTopup"] },
  invoice: { ...inPage("billing", "invoices"), needs: ["getInvoice"] },
  refund: { ...page("credits", "topups"), needs: ["listTopups"] },
  mandate: { ...page("billing", "auto"), needs: ["getAutoTopup"] },
  auto_topup: { ...page("billing", "auto"), needs: ["getAutoTopup"] },
  credits: { ...page("credits", "ledger"), needs: ["listLedger"] },
  policy: inPage("policies"),
  project: inPage("projects"),
  member: page("members"),
  provider_key: page("provider-keys"),
  subscription: page("billing"),
  org: page("settings"),
};

/** First segments of the pages that the person may open. */
let openPaths = (): readonly string[] => [];

/** Called by the list of pages, which pages cannot import: it names them. @param paths read anew for each place */
export function tellOpenPaths(paths: () => readonly string[]): void {
  openPaths = paths;
}

/** Undefined where the console has no such page for the person. @param kind `key`, `webhook`, … */
export function placeOf(kind: string, id: string): readonly string[] | undefined {
  const row = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined;
  if (row === undefined || id === "") return undefined;
  const to = row.to(id);
  const isThere = openPaths().some((path) => path === to[0]);
  return isThere && (row.needs ?? []).every(mayCall) ? to : undefined;
}
