/**
 * Every page and view of the console, as data: an address and what is on it. Pictures are made of them, and the tests of the whole console
 * walk them. A new view is a new row.
 */
import type { ROUTES } from "../../console/api/operations.ts";
import type { Samples } from "./samples.ts";

/** An operation of the API that the console calls. */
type Operation = keyof typeof ROUTES;

export interface View {
  /** Also the name of its picture. */
  readonly name: string;
  /** Behind `/console/{org}/`; one that begins with `/` is of the gateway's own pages. */
  readonly address: string | ((samples: Samples) => string);
  /** CSS selector of what is there once the view is; by default its heading. */
  readonly shows?: string;
  /** Operations without which a role does not see it: as in `console/app/pages.ts`, and what the view itself is about. */
  readonly needs?: readonly Operation[];
  /** It shows what calls say while they run. */
  readonly readsPayloads?: boolean;
  /** Keys pressed once its page is there. */
  readonly press?: string;
  /** Selectors of what is clicked, one after the other, once its page is there: a menu, a dialog. */
  readonly click?: readonly string[];
  /** Calls run meanwhile. */
  readonly withCalls?: boolean;
  /** Its address answers with a status of an error, which a browser notes. */
  readonly isError?: boolean;
}

const HEADING = "h1";
const PLAYGROUND = ["createPlaygroundKey", "listModels", "listProjects"] as const;

export const VIEWS: readonly View[] = [
  { name: "overview", address: "overview", needs: ["getUsage"] },
  { name: "overview-90-days", address: "overview?range=90d", needs: ["getUsage"] },
  { name: "requests", address: "requests", shows: "tbody tr", needs: ["listRequests"] },
  {
    name: "requests-filtered",
    address: "requests?status=failed&within=30d",
    shows: "tbody tr",
    needs: ["listRequests"],
  },
  { name: "requests-none", address: "requests?model=none%2Fsuch", shows: ".empty", needs: ["listRequests"] },
  { name: "request-answered", address: ({ answered }) => `requests/${answered}`, needs: ["listRequests"] },
  { name: "request-tools", address: ({ tools }) => `requests/${tools}`, needs: ["listRequests"] },
  { name: "request-failed", address: ({ failed }) => `requests/${failed}`, needs: ["listRequests"] },
  { name: "request-refused", address: ({ refused }) => `requests/${refused}`, needs: ["listRequests"] },
  { name: "request-fallback", address: ({ fallback }) => `requests/${fallback}`, needs: ["listRequests"] },
  {
    name: "live",
    address: "live",
    shows: "[aria-label='Ended calls'] tbody tr",
    needs: ["listRequests"],
    withCalls: true,
  },
  {
    name: "live-call",
    address: "live",
    click: ["a:has-text('Watch')"],
    shows: ".turn",
    needs: ["listRequests", "readCallStream"],
    readsPayloads: true,
    withCalls: true,
  },
  {
    name: "live-call-missing",
    address: ({ answered }) => `live/${answered}`,
    shows: "main .note",
    needs: ["listRequests", "readCallStream"],
    readsPayloads: true,
    isError: true,
  },
  {
    name: "request-missing",
    address: "requests/00000000000000000000000000",
    click: ["text='Try again'"],
    shows: "[role=alert]",
    needs: ["listRequests"],
    isError: true,
  },
  { name: "playground", address: "playground", needs: PLAYGROUND },
  {
    name: "playground-two",
    address: ({ model, otherModel }) =>
      `playground?model=${encodeURIComponent(model)}&with=${encodeURIComponent(otherModel)}`,
    needs: PLAYGROUND,
  },
  { name: "playground-from", address: ({ tools }) => `playground?from=${tools}`, needs: PLAYGROUND },
  {
    name: "playground-answered",
    address: ({ model }) => `playground?model=${encodeURIComponent(model)}`,
    click: ["text='Explain something'", "text='Send'"],
    shows: ".play-result",
    needs: PLAYGROUND,
  },
  {
    name: "playground-code",
    address: ({ answered }) => `playground?from=${answered}`,
    click: ["text='As code'"],
    shows: "main pre",
    needs: PLAYGROUND,
  },
  { name: "setup", address: "setup", shows: "pre", needs: ["listKeys"] },
  { name: "setup-codex", address: "setup?client=codex", shows: "pre", needs: ["listKeys"] },
  { name: "models", address: "models", needs: ["listModels"] },
  { name: "model", address: ({ model }) => `models/${model}`, needs: ["listModels"] },
  {
    name: "models-compared",
    address: ({ model, otherModel }) =>
      `models?compare=${encodeURIComponent(model)},${encodeURIComponent(otherModel)}`,
    needs: ["listModels"],
  },
  { name: "models-none", address: "models?q=no%20such%20model", shows: ".empty", needs: ["listModels"] },
  { name: "keys", address: "keys", needs: ["listKeys"] },
  { name: "keys-none", address: "keys?q=no%20such%20key", shows: ".empty", needs: ["listKeys"] },
  { name: "key", address: ({ key }) => `keys/${key}`, needs: ["listKeys"] },
  {
    name: "key-rotate",
    address: ({ key }) => `keys/${key}`,
    click: ["text='Rotate key'"],
    shows: "dialog",
    needs: ["listKeys", "rotateKey"],
  },
  {
    name: "key-revoke",
    address: ({ key }) => `keys/${key}`,
    click: ["text='Revoke key'"],
    shows: "dialog",
    needs: ["listKeys", "revokeKey"],
  },
  { name: "key-new", address: "keys/new", needs: ["createKey"] },
  { name: "credits", address: "credits", needs: ["getCredits"] },
  { name: "credits-ledger", address: "credits/ledger", shows: "tbody tr", needs: ["listLedger"] },
  { name: "credits-topups", address: "credits/topups", shows: "tbody tr", needs: ["listTopups"] },
  { name: "credits-topup-new", address: "credits/topups/new", needs: ["createTopup"] },
  { name: "credits-topup", address: ({ topup }) => `credits/topups/${topup}`, needs: ["getTopup"] },
  {
    name: "credits-refund",
    address: ({ topup }) => `credits/topups/${topup}`,
    click: ["text='Refund'"],
    shows: "dialog",
    needs: ["getTopup", "refundTopup"],
  },
  { name: "credits-invoices", address: "credits/invoices", shows: "tbody tr", needs: ["listInvoices"] },
  { name: "credits-invoice", address: ({ invoice }) => `credits/invoices/${invoice}`, needs: ["getInvoice"] },
  { name: "welcome", address: "welcome", shows: "form", needs: ["getUsage", ...PLAYGROUND] },
  { name: "palette", address: "setup", press: "Control+k", shows: "dialog li", needs: ["listKeys"] },
  { name: "menu", address: "no-such-page", click: [".shell-own summary"], shows: ".shell-own[open]" },
  { name: "missing", address: "no-such-page" },
  { name: "start", address: "/" },
  { name: "not-found", address: "/no/such/page", isError: true },
  { name: "no-org", address: "/console/no-such-org" },
];

export const shownBy = ({ shows = HEADING }: View): string => shows;

/** Path and query behind the gateway's address. */
export function addressOf({ address }: View, org: string, samples: Samples): string {
  const own = typeof address === "string" ? address : address(samples);
  return own.startsWith("/") ? own : `/console/${org}/${own}`;
}
