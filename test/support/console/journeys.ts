/**
 * What each journey in a browser changes: the routes that its pages call, other than reads. A journey compares them with what it called
 * (`expectActs`), and test/gateway/routes/reachable.test.ts compares all of them with the table of routes.
 */
export const JOURNEYS = {
  budget: ["POST /v1/keys", "PATCH /v1/keys/{id}"],
  "first-key": ["POST /v1/keys", "POST /v1/playground/key", "POST /v1/svc/dry_run", "POST /v1/svc/generate"],
  keys: ["POST /v1/keys", "PATCH /v1/keys/{id}", "POST /v1/keys/{id}/rotate", "DELETE /v1/keys/{id}"],
  "watched-call": ["POST /v1/generation/{id}/cancel"],
  plan: ["POST /v1/billing/subscription"],
  mandate: [
    "PATCH /v1/orgs/{org}",
    "POST /v1/credits/topups",
    "POST /v1/credits/mandates",
    "PUT /v1/credits/auto-topup",
    "DELETE /v1/credits/mandates",
  ],
  refund: [
    "PATCH /v1/orgs/{org}",
    "POST /v1/credits/topups",
    "POST /v1/credits/topups/{id}/refund",
    "POST /v1/invoices/{id}/correction",
    "POST /v1/invoices/{id}/resend",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Journey = keyof typeof JOURNEYS;
