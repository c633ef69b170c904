/** What the folder of a release is made with and looked at by. */
import type { GatewayOptions } from "../gateway/fixtures.ts";

export interface Expected {
  readonly madeAtMs: number;
  /** Of a folder that was thrown away. */
  readonly secrets: Readonly<Record<"live" | "test" | "limited", string>>;
  /** A call with an `Idempotency-Key`, and its answer. */
  readonly once: { readonly body: object; readonly headers: object };
  readonly repeated: string;
  readonly requestIds: readonly string[];
  readonly responseId: string;
  /** Path → what GET answered. */
  readonly reads: Readonly<Record<string, unknown>>;
}

/** Of the release and of the gateway that opens its folder. */
export const releaseOptions: GatewayOptions = {
  endpoints: [
    { provider: "steady", price: { input: 1, output: 2 } },
    { provider: "trial", price: { input: 3, output: 4 } },
    { provider: "owned", isReal: true, credentialEnv: "OWNED_KEY", price: { input: 9, output: 9 } },
  ],
};

export const READS = ({ requestIds, responseId }: Pick<Expected, "requestIds" | "responseId">): string[] => [
  "/v1/credits",
  "/v1/credits/ledger?limit=500",
  "/v1/keys",
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
