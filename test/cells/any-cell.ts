/**
 * Tests of other lanes that run once more, unchanged, against three cells behind a proxy that gives each request to the next one
 * (`test/support/start-cells.ts`): what they ask of one gateway, any cell must do. test/README.md says which tests cannot be here.
 */

const GATEWAY = [
  "account/scim/scim",
  "account/scim/scim.members",
  "account/scim/scim.published",
  "account/identity/sign-in",
  "account/identity/sign-out",
  "account/locked-orgs",
  "inference/exchange/clients.references",
  "inference/exchange/detached/detach",
  "account/operator/operator",
  "billing/billing",
  "billing/payments/payments",
  "billing/payments/payment-webhooks",
  "billing/subscriptions/plans",
  "billing/subscriptions/plans.unlimited",
  "credits/limits/limits",
  "credits/limits/rotation",
  "inference/exchange/context",
  "erasure/dpa",
  "routes/specification",
  "conformance/bytes",
  "billing/closing",
  "routing/left-out",
];
const ENGINE = ["analytics/exports.gateway", "routes/openapi.fields"];

/** The slowest, in a thorough run: three cells answer each test's questions for all records of all cells. */
const SLOW_GATEWAY = [
  ...["chat", "completions", "responses", "messages", "generate"].map((format) => `conformance/${format}`),
  "routes/access",
  "routes/document",
  "inquire/inquire",
  "inference/exchange/responses.history",
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
  "inference/exchange/privacy",
  "routing/policies/e2e",
  "routing/policies/replay.e2e",
];
const SLOW_PROCESS = ["inference/exchange/idempotency"];

const pathsOf = (lane: string, names: readonly string[]): string[] =>
  names.map((name) => `test/${lane}/${name}.test.ts`);

const USUAL = [...pathsOf("gateway", GATEWAY), ...pathsOf("engine", ENGINE)];
const SLOW = [
  ...pathsOf("gateway", SLOW_GATEWAY),
  ...pathsOf("engine", SLOW_ENGINE),
  ...pathsOf("process", SLOW_PROCESS),
];

/** Those of a thorough run. */
export const ALL_FOR_ANY_CELL: readonly string[] = [...USUAL, ...SLOW];

export const ANY_CELL: string[] = process.env.WEIR_THOROUGH === undefined ? USUAL : [...ALL_FOR_ANY_CELL];
