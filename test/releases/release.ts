/** What the folder of a release is made with and looked at by. */
import type { GatewayOptions } from "../support/gateway.ts";

export interface Expected {
  readonly madeAtMs: number;
  /** Keys of a folder that was thrown away. */
  readonly secrets: Readonly<Record<"live" | "test" | "limited", string>> & {
    /** The secret of a person's key of the playground, which works for an hour. Absent in releases without one. */
    readonly playground?: string;
  };
  /** A call with an `Idempotency-Key`, and its answer. */
  readonly once: { readonly body: object; readonly headers: object };
  readonly repeated: string;
  readonly requestIds: readonly string[];
  readonly responseId: string;
  /** Paid ones. Absent in releases that took no money. */
  readonly topups?: readonly string[];
  /** A key whose budget of the day is used up. Absent in releases that noted no such keys. */
  readonly usedUpId?: string;
  /** Path → what GET answered. */
  readonly reads: Readonly<Record<string, unknown>>;
}

const limits = { rpm: 10_000, tpm: 100_000_000, concurrency: 500, keys: 9, projects: 9 };

/** Options of the release and of the gateway that opens its folder. */
export const releaseOptions: GatewayOptions = {
  plans: [
    { id: "local", limits },
    {
      id: "paid",
      name: "Paid",
      limits,
      monthly_minor: { INR: 90_000, USD: 1_000 },
      included_micro: 3_000_000,
    },
  ],
  endpoints: [
    { provider: "steady", price: { input: 1, output: 2 } },
    { provider: "trial", price: { input: 3, output: 4 } },
    { provider: "owned", isReal: true, credentialEnv: "OWNED_KEY", price: { input: 9, output: 9 } },
  ],
};

type Made = Pick<Expected, "requestIds" | "responseId" | "topups" | "usedUpId">;

export const READS = ({ requestIds, responseId, topups = [], usedUpId }: Made): string[] => [
  "/v1/credits/topups",
  ...topups.map((id) => `/v1/credits/topups/${id}`),
  "/v1/credits/refunds",
  "/v1/invoices",
  "/v1/billing/subscription",
  "/.well-known/jwks.json",
  "/v1/credits",
  "/v1/credits/ledger?limit=500",
  "/v1/keys",
  "/v1/keys?kind=playground",
  `/v1/keys/${usedUpId}`,
  "/v1/projects",
  "/v1/provider-keys",
  "/v1/webhooks",
  "/v1/policies",
  "/v1/policies/house/versions/1",
  "/v1/policies/house/canaries",
  "/v1/models/test/model/stats",
  `/v1/responses/${responseId}`,
  ...requestIds.map((id) => `/v1/requests/${id}`),
];
