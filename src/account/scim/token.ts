/**
 * The bearer token of an org's directory: one for each org, stored as a hash. A new one replaces the old one, which works for
 * another day so that the directory can be told. Methods that say "in an act" write.
 */

import { type Clock, localDay } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { HOUR_MS } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import { StoreTables } from "../../store/tables/store-tables.ts";
import { hashSecret, newSecret, secretHint } from "../secret.ts";

const SHAPE = /^svc-scim-[0-9A-Za-z]{43}$/;
/** How long the token before works once a new one is made. */
export const ROTATION_HOURS = 24;

export interface TokenRow {
  readonly id: string;
  readonly orgId: string;
  readonly hash: string;
  readonly hint: string;
  readonly createdAtMs: number;
  readonly isRevoked: boolean;
  /** The token before this one. */
  readonly previous: { readonly hash: string; readonly endsAtMs: number } | null;
}

export class ScimTokens extends StoreTables {
  readonly #clock: Clock;
  /** Org id → its token. */
  readonly #rows = this.store.table<TokenRow>("scim.tokens");
  /** Hash → org id. */
  readonly #orgByHash = this.store.table<string>("scim.org_by_token");
  /** Org id → day of the last use, UTC. */
  readonly #lastUsed = this.store.table<string>("scim.token_days");

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    super(store);
    this.#clock = clock;
  }

  of(orgId: string): TokenRow | undefined {
    return this.#rows.get(orgId);
  }

  /** Whether the org has a directory: a token that is not revoked. */
  isLive(orgId: string): boolean {
    return this.#rows.get(orgId)?.isRevoked === false;
  }

  /** The token, by its secret; undefined for one that never was, is revoked, or was replaced more than a day ago. */
  resolve(secret: string): TokenRow | undefined {
    // Checked before hashing, whose cost grows with the input.
    if (!SHAPE.test(secret)) return undefined;
    const hash = hashSecret(secret);
    const row = this.#rows.get(this.#orgByHash.get(hash) ?? "");
    if (row === undefined || row.isRevoked) return undefined;
    if (row.hash === hash) return row;
    const { previous } = row;
    return previous?.hash === hash && this.#clock.now() < previous.endsAtMs ? row : undefined;
  }

  /** In an act: a new token. @returns the secret, which is stored nowhere */
  make(orgId: string): { readonly secret: string; readonly row: TokenRow } {
    const nowMs = this.#clock.now();
    const old = this.#rows.get(orgId);
    if (old?.previous != null) this.#orgByHash.remove(old.previous.hash);
    const secret = newSecret("scim");
    const row: TokenRow = {
      id: newId("sct", nowMs),
      orgId,
      createdAtMs: nowMs,
      isRevoked: false,
      hash: hashSecret(secret),
      hint: secretHint(secret),
      previous:
        old === undefined || old.isRevoked
          ? null
          : { hash: old.hash, endsAtMs: nowMs + ROTATION_HOURS * HOUR_MS },
    };
    this.#rows.put(orgId, row);
    this.#orgByHash.put(row.hash, orgId);
    this.#lastUsed.remove(orgId);
    return { secret, row };
  }

  /** In an act: the token and the one before stop with the next request. @returns false if there was none to revoke */
  revoke(orgId: string): boolean {
    const old = this.#rows.get(orgId);
    if (old === undefined || old.isRevoked) return false;
    this.#orgByHash.remove(old.hash);
    if (old.previous !== null) this.#orgByHash.remove(old.previous.hash);
    this.#rows.put(orgId, { ...old, isRevoked: true, previous: null });
    return true;
  }

  /** In an act: no call of the directory is known from now on, so none is logged. */
  erase(orgId: string): void {
    const row = this.#rows.get(orgId);
    for (const hash of [row?.hash, row?.previous?.hash]) if (hash !== undefined) this.#orgByHash.remove(hash);
    if (row !== undefined) this.#rows.remove(orgId);
    this.#lastUsed.remove(orgId);
  }

  /** In an act; writes once a day. */
  noteUse(orgId: string): void {
    const day = localDay(this.#clock.now(), "UTC");
    if (this.#lastUsed.get(orgId) !== day) this.#lastUsed.put(orgId, day);
  }

  /** The day, such as `2026-09-09`; undefined for a token that was never used. */
  lastUsed(orgId: string): string | undefined {
    return this.#lastUsed.get(orgId);
  }
}
