/**
 * Links of invitations: single-use secrets that stand for an invited person until they sign in. The store holds hashes only.
 * Methods that write must be called in an act.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import { type ExpiringTable, openExpiringTable } from "../store/expiring-table.ts";
import type { Store } from "../store/store.ts";
import type { People } from "./people.ts";
import type { MemberRow } from "./person.ts";
import { hashSecret } from "./secret.ts";

const DAY_MS = 86_400_000;
export const INVITATION_DAYS = 14;
const SECRET = /^[\w-]{43}$/;

interface InvitationRow {
  readonly userId: string;
  /** Who invites: the link opens no other org, however many have invited the same address. */
  readonly orgId: string;
  readonly expiresAtMs: number;
}

export class Invitations {
  readonly #people: People;
  readonly #clock: Clock;
  readonly #rows: ExpiringTable<InvitationRow>;

  constructor(options: {
    readonly store: Store;
    readonly clock: Clock;
    readonly people: People;
    readonly onFailure: (error: unknown) => void;
  }) {
    const { store, clock, people, onFailure } = options;
    this.#people = people;
    this.#clock = clock;
    this.#rows = openExpiringTable({
      ...{ store, clock, onFailure },
      ...{ rows: "account.invitations", periods: "account.invitation_days", periodMs: DAY_MS },
    });
  }

  /** In an act. @returns the secret for the link, which is stored nowhere */
  add({ userId, orgId }: Pick<MemberRow, "userId" | "orgId">): string {
    const secret = randomBytes(32).toString("base64url");
    const expiresAtMs = this.#clock.now() + INVITATION_DAYS * DAY_MS;
    this.#rows.put([hashSecret(secret)], { userId, orgId, expiresAtMs }, expiresAtMs);
    return secret;
  }

  /** What the link gives; undefined for one that was used or taken back, has expired or never was. */
  find(secret: string): MemberRow | undefined {
    if (!SECRET.test(secret)) return undefined;
    const row = this.#rows.get([hashSecret(secret)]);
    if (row === undefined || this.#clock.now() >= row.expiresAtMs) return undefined;
    const isWaiting = this.#people.user(row.userId)?.status === "invited";
    return isWaiting ? this.#people.member(row.orgId, row.userId) : undefined;
  }

  /** In an act. */
  use(secret: string): void {
    if (SECRET.test(secret)) this.#rows.remove([hashSecret(secret)]);
  }

  close(): void {
    this.#rows.close();
  }
}
