/**
 * Tests of other lanes that run once more, unchanged, against three cells behind a proxy that gives each request to the next one
 * (`test/support/start-cells.ts`): what they ask of one gateway, any cell must do. test/README.md says which tests cannot be here.
 */

const GATEWAY = [
  "scim/scim",
  "scim/scim.members",
  "scim/scim.published",
  "identity/sign-in",
  "identity/sign-out",
  "account/locked-orgs",
  "exchange/clients.references",
  "operator/operator",
  "billing/billing",
  "billing/payments/payments",
  "billing/payments/payment-webhooks",
  "billing/subscriptions/plans",
  "billing/subscriptions/plans.unlimited",

  "limits/limits",
  "limits/rotation",
  "exchange/context",
  "erasure/dpa",
  "routes/specification",
  "conformance/bytes",
  "billing/closing",
  "routing/left-out",
  "limits/limits",
  "exchange/context",
  "erasure/dpa",
  "routes/specification",
  "conformance/bytes",
];
const ENGINE = ["analytics/exports.gateway", "routes/openapi.fields"];

/** The slowest, in a thorough run: three cells answer each test's questions for all records of all cells. */
const SLOW_GATEWAY = [
  ...["chat", "completions", "responses", "messages", "generate"].map((format) => `conformance/${format}`),
  "routes/access",
  "routes/document",
  "inquire/inquire",
  "exchange/responses.history",
  "money/org-limits",
];
const SLOW_ENGINE = [
  "billing/billing.bad-input",
  "routes/lists",
  "routes/separation",
  "analytics/tail.gateway",
  "analytics/request-forms",

  "money/books",
  "money/exact",
  "account/byok",
  "exchange/privacy",
  "policies/e2e",
  "policies/replay.e2e",
];
const SLOW_PROCESS = ["exchange/idempotency"];

const isThorough = process.env.WEIR_THOROUGH !== undefined;
const filesOf = (lane: string, always: readonly string[], thorough: readonly string[]): string[] =>
  [...always, ...(isThorough ? thorough : [])].map((file) => `test/${lane}/${file}.test.ts`);

export const ANY_CELL: string[] = [
  ...filesOf("gateway", GATEWAY, SLOW_GATEWAY),
  ...filesOf("engine", ENGINE, SLOW_ENGINE),
  ...filesOf("process", [], SLOW_PROCESS),
];
