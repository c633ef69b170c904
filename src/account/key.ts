/**
 * API keys: the row, the status derived from it, and its wire shape. A row holds the hash of its secret, never the
 * secret; `revoked` and `expired` are final.
 */

import { z } from "zod";
import { HOLD_MODES, type HoldMode } from "../base/call/hold-mode.ts";
import type { OnDisconnect } from "../base/call/on-disconnect.ts";
import { isoTime } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { SCOPES, type Scope } from "../base/operation/access.ts";
import * as field from "../base/operation/fields.ts";
import { amountShape, budgetWire, hardShape } from "./fields/budget-fields.ts";
import { type Environment, hashSecret, secretHint } from "./secret.ts";
import type { SvcVersion } from "./versions.ts";

/** Limits of one key. `rpm` and `tpm` are per minute. */
export interface KeyLimits {
  readonly rpm: number;
  readonly tpm: number;
  readonly concurrency: number;
}

export interface KeyRow {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly name: string;
  readonly hash: string;
  readonly hint: string;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** Absent limits come from the plan. */
  readonly limits: Partial<KeyLimits>;
  /** `null`: no budget. */
  readonly budget: { readonly dailyMicroUsd: number | null; readonly hard: boolean };
  readonly onDisconnect: OnDisconnect;
  /** How calls hold whose request says nothing of it. Absent: as the project says. */
  readonly hold?: HoldMode;
  readonly svcVersion: SvcVersion;
  readonly createdAtMs: number;
  /** The requested lifetime, which a rotated key's successor gets again. `null`: unlimited. */
  readonly lifetimeMs: number | null;
  readonly expiresAtMs: number | null;
  /** In the future during the grace period of a rotation. */
  readonly revokedAtMs: number | null;
  /**
   * True: revoked for good, whatever the clock says: a key revoked while the clock ran ahead must not work again once
   * the clock is corrected. False where only `revokedAtMs` ends it: a rotation's grace period.
   */
  readonly isRevoked: boolean;
  readonly rotatedFrom: string | null;
  /** Id of the key that replaces it. Absent where none does, and in rows of earlier releases. */
  readonly replacedBy?: string;
  /**
   * Id of the first key of its chain of rotations. Absent where it replaced none, and in rows of earlier releases:
   * `AccountTables.lineageOf` knows it of every key.
   */
  readonly lineageId?: string;
  /** A person's key of the playground, whose secret is replaced in place. Absent: a key that somebody made. */
  readonly kind?: "playground";
  /** Id of the person, key or operator who made it; absent in rows of release 0.1.0. */
  readonly createdBy?: string;
  /** Id of the person behind it: who made it, or stands behind the key that did; absent where nobody is known. */
  readonly personId?: string;
}

/** Whether a person made a key, or a key of theirs did. */
export const isMadeFor = ({ createdBy, personId }: KeyRow, userId: string): boolean =>
  createdBy === userId || personId === userId;

/** `row` after it is revoked for good. */
export const revokedKey = (row: KeyRow, nowMs: number): KeyRow => ({
  ...row,
  revokedAtMs: nowMs,
  isRevoked: true,
});

/** What the creator of a key chooses; id, time and secret are generated. */
export type KeyOrder = Omit<
  KeyRow,
  "id" | "hash" | "hint" | "createdAtMs" | "expiresAtMs" | "revokedAtMs" | "isRevoked" | "replacedBy"
>;

export const newKey = (order: KeyOrder, secret: string, nowMs: number): KeyRow => ({
  ...order,
  id: newId("key", nowMs),
  hash: hashSecret(secret),
  hint: secretHint(secret),
  createdAtMs: nowMs,
  expiresAtMs: order.lifetimeMs === null ? null : nowMs + order.lifetimeMs,
  revokedAtMs: null,
  isRevoked: false,
});

export const KEY_STATUSES = ["active", "rotating", "revoked", "expired"] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

/** Derived, never stored, so that a key ends without a timer. */
export function keyStatus(row: KeyRow, nowMs: number): KeyStatus {
  if (row.isRevoked || (row.revokedAtMs !== null && nowMs >= row.revokedAtMs)) return "revoked";
  if (row.expiresAtMs !== null && nowMs >= row.expiresAtMs) return "expired";
  return row.revokedAtMs === null ? "active" : "rotating";
}

/** Whether the key works now. */
export function keyWorks(row: KeyRow, nowMs: number): boolean {
  const status = keyStatus(row, nowMs);
  return status === "active" || status === "rotating";
}

export const limitsShape = z.object(field.limits(z.int().optional()));

export const keyShape = z.object({
  id: field.keyId,
  project_id: field.projectId,
  name: z.string().describe("Your name for the key."),
  hint: z.string().describe("The end of the secret, to tell keys apart."),
  kind: z
    .literal("playground")
    .optional()
    .describe("A person's key of the playground; absent for a key that somebody made."),
  environment: field.environment,
  scopes: z.array(z.enum(SCOPES)).describe("What the key may do."),
  status: z.enum(KEY_STATUSES).describe("`active`, `rotating` (works in its grace), `revoked` or `expired`."),
  limits: limitsShape.describe("What is absent inherits the plan's"),
  budget: z
    .object({ daily_micro: amountShape, hard: hardShape })
    .describe("What the key may spend in a day, by the org's time zone."),
  on_disconnect: field.onDisconnect,
  hold: z.enum(HOLD_MODES).optional().describe("Absent: as the project's"),
  svc_version: z.string().describe("The API version that the key is pinned to."),
  created_at: field.createdAt,
  created_by: z
    .string()
    .optional()
    .describe("Id of the person, key or operator that made it; absent where that is not known"),
  last_used_at: field.time("When it was last used").optional(),
  lineage_id: z
    .string()
    .optional()
    .describe("The first of the keys that it replaced, one after the other; absent where it replaced none"),
  expires_at: field.time("When it ceases to work").optional(),
  revoked_at: field.time("When it was revoked").optional(),
});
export const createdKeyShape = keyShape.extend({
  secret: z.string().describe("The whole key. It is shown this once."),
});
export const rotatedKeyShape = createdKeyShape.extend({
  rotated_from: z.string().describe("The key that this one replaces."),
});

/** What an answer shows of a key that the key's row does not have. */
export interface KeyFacts {
  /** The last use; undefined for a key that was never used. */
  readonly lastUsedAtMs: number | undefined;
  /** See `AccountTables.lineageOf`. */
  readonly lineageId: string;
}

export function keyWire(
  row: KeyRow,
  { lastUsedAtMs, lineageId }: KeyFacts,
  nowMs: number,
): z.input<typeof keyShape> {
  const status = keyStatus(row, nowMs);
  const { microUsd, hard } = budgetWire({ microUsd: row.budget.dailyMicroUsd, hard: row.budget.hard });
  return {
    id: row.id,
    project_id: row.projectId,
    name: row.name,
    hint: row.hint,
    ...(row.kind !== undefined && { kind: row.kind }),
    environment: row.environment,
    scopes: [...row.scopes],
    status,
    limits: row.limits,
    budget: { daily_micro: microUsd, hard },
    on_disconnect: row.onDisconnect,
    ...(row.hold !== undefined && { hold: row.hold }),
    svc_version: row.svcVersion,
    created_at: isoTime(row.createdAtMs),
    ...(row.createdBy !== undefined && { created_by: row.createdBy }),
    ...(lastUsedAtMs === undefined ? {} : { last_used_at: isoTime(lastUsedAtMs) }),
    ...(lineageId !== row.id && { lineage_id: lineageId }),
    ...(row.expiresAtMs === null ? {} : { expires_at: isoTime(row.expiresAtMs) }),
    ...(status === "revoked" && row.revokedAtMs !== null ? { revoked_at: isoTime(row.revokedAtMs) } : {}),
  };
}
