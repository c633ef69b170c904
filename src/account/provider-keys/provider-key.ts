/**
 * An org's own provider keys: stored row and wire shape. The row holds the credential encrypted; answers never contain
 * it. Rows are created and deleted, never changed.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { Credential } from "../../base/endpoint.ts";
import { jsonIn } from "../../base/json.ts";
import * as field from "../../base/operation/fields.ts";

/** Ids of stored provider keys: `pk_` and a ULID. */
export interface ProviderKeyRow {
  readonly id: string;
  readonly orgId: string;
  readonly providerId: string;
  readonly name: string;
  /** Last four characters of the part that identifies the credential. */
  readonly hint: string;
  /** False: the org's calls never use the platform's credential for this provider. */
  readonly platformFallback: boolean;
  /** The credential as JSON, encrypted by the vault for this org and id. */
  readonly sealed: Uint8Array;
  readonly createdAtMs: number;
}

/** `unreadable`: encrypted with a master key that this gateway does not have. It is not used; it can be deleted. */
const PROVIDER_KEY_STATUSES = ["active", "unreadable"] as const;
export type ProviderKeyStatus = (typeof PROVIDER_KEY_STATUSES)[number];

export const providerKeyShape = z.object({
  id: z.string().describe("The provider key's id."),
  provider: field.providerId,
  name: z.string().describe("Your name for the key."),
  hint: z.string().describe("Last four characters of what names the credential"),
  platform_fallback: z.boolean().describe("The gateway's own keys stand in when this one is refused."),
  status: z
    .enum(PROVIDER_KEY_STATUSES)
    .describe(
      "`unreadable`: the gateway lost the key that it was encrypted with; delete it and add it again",
    ),
  created_at: field.createdAt,
});

export const providerKeyWire = (
  row: ProviderKeyRow,
  status: ProviderKeyStatus,
): z.input<typeof providerKeyShape> => ({
  id: row.id,
  provider: row.providerId,
  name: row.name,
  hint: row.hint,
  platform_fallback: row.platformFallback,
  status,
  created_at: isoTime(row.createdAtMs),
});

const stored = z.union([
  z.string(),
  z.strictObject({
    kind: z.literal("aws_keys"),
    accessKeyId: z.string(),
    secretAccessKey: z.string(),
    sessionToken: z.string().exactOptional(),
  }),
  z.strictObject({
    kind: z.literal("service_account"),
    clientEmail: z.string(),
    privateKey: z.string(),
    privateKeyId: z.string(),
    tokenUri: z.string(),
  }),
]);

/** The credential of its JSON; undefined for what this version cannot read. */
export function credentialFrom(text: string): Credential | undefined {
  return stored.safeParse(jsonIn(text)).data;
}
