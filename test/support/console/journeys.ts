/**
 * What each journey in a browser changes: the routes that its pages call, other than reads. A journey compares them with what it called
 * (`expectActs`), and test/gateway/routes/reachable.test.ts compares all of them with the table of routes.
 */
export const JOURNEYS = {
  analysts: ["POST /v1/analytics/users", "DELETE /v1/analytics/users/{id}"],
  members: [
    "POST /v1/orgs/{org}/members",
    "POST /v1/orgs/{org}/members/{user}/invitation",
    "PATCH /v1/orgs/{org}/members/{user}",
    "DELETE /v1/orgs/{org}/members/{user}",
    "POST /auth/invitations/{id}/accept",
    "POST /auth/invitations/{id}/decline",
    "PUT /auth/active-org",
    "POST /v1/keys",
  ],
  projects: ["POST /v1/projects", "PATCH /v1/projects/{id}", "DELETE /v1/projects/{id}", "POST /v1/keys"],
  sessions: ["POST /auth/link/{token}", "DELETE /auth/sessions/{id}", "POST /auth/logout"],
  orgs: [
    "POST /v1/orgs",
    "POST /v1/orgs/{org}/transfer",
    "DELETE /v1/orgs/{org}/members/{user}",
    "PUT /auth/active-org",
  ],
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
  closing: [
    "POST /v1/orgs/{org}/close",
    "POST /v1/orgs/{org}/erasure",
    "DELETE /v1/orgs/{org}/erasure",
    "POST /v1/orgs/{org}/export",
  ],
  directory: ["POST /v1/org/scim/token", "DELETE /v1/org/scim/token"],
  "provider-keys": ["POST /v1/provider-keys", "DELETE /v1/provider-keys/{id}"],
  settings: ["PATCH /v1/orgs/{org}", "POST /v1/policy/redact/preview"],
  policies: [
    "POST /v1/policies",
    "POST /v1/policies/validate",
    "POST /v1/policies/{name}/versions",
    "POST /v1/policies/{name}/activate",
    "POST /v1/policies/{name}/deactivate",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Journey = keyof typeof JOURNEYS;
