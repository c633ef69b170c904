/**
 * Who owns a new installation: its first org has keys and no owner, though its keys may have invited people. On loopback it is
 * whoever signs in first; elsewhere an operator of the settings, or whoever holds the secret in the data folder.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { readSecret, saveSecret } from "../../base/process/secret-file.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { OrgRow } from "../org.ts";
import type { UserRow } from "../person.ts";
import type { AccountTables } from "../tables.ts";

/** In the data folder, mode 0600; only while the first org has no owner. */
export const FIRST_OWNER_FILE = "first-owner";

export interface FirstOwnerOptions {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly trail: Trail;
  readonly dataDir: string;
  /** A cell derives the secret from it, because all cells have it: any cell must know the secret that another one's file has. */
  readonly shared: Uint8Array | undefined;
  /** The gateway listens on loopback only. */
  readonly isLoopback: boolean;
  readonly isOperator: (user: UserRow) => boolean;
}

export class FirstOwner {
  readonly #options: FirstOwnerOptions;
  readonly #secret: Buffer | undefined;

  /** Writes the secret's file where it is needed and missing. */
  constructor(options: FirstOwnerOptions) {
    this.#options = options;
    const { dataDir, shared, isLoopback } = options;
    if (isLoopback || !this.#isMissing()) return;
    const path = join(dataDir, FIRST_OWNER_FILE);
    const kept = readSecret(path);
    const made = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
    const secret = shared === undefined ? (kept ?? made(randomBytes(32))) : made(shared);
    if (kept !== secret) saveSecret(path, secret);
    this.#secret = Buffer.from(secret);
  }

  /** In an act: makes the person the owner of the first org if it has none and they may be. @param sent empty for nothing */
  claim(caller: Caller, user: UserRow, sent: string): void {
    const { accounts, clock, trail, isLoopback, isOperator } = this.#options;
    const org = accounts.oldestOrg();
    if (org === undefined || !lacksOwner(accounts, org)) return;
    if (!isLoopback && !isOperator(user) && !this.#isSecret(sent)) return;
    const row = {
      orgId: org.id,
      userId: user.id,
      role: "owner",
      addedAtMs: clock.now(),
      source: "creation",
    } as const;
    accounts.people.putMember(row);
    const after = { role: row.role, email: user.email };
    trail.audit.note(caller, { act: "member.first_owner", target: user.id, after, orgId: org.id });
  }

  #isMissing(): boolean {
    const { accounts } = this.#options;
    const org = accounts.oldestOrg();
    return org !== undefined && lacksOwner(accounts, org);
  }

  #isSecret(sent: string): boolean {
    const given = Buffer.from(sent);
    return this.#secret?.length === given.length && timingSafeEqual(this.#secret, given);
  }
}

/** An org that is erased, or about to be, has no people, and gets none again. */
const lacksOwner = ({ people }: AccountTables, { id, erasureBegunAtMs, erasedAtMs }: OrgRow): boolean =>
  erasureBegunAtMs === undefined && erasedAtMs === undefined && !people.hasOwner(id);
