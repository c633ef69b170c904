/**
 * The sessions of people. The browser holds a random token; the store holds its hash, so that a copy of the store opens no
 * session. Methods that say "in an act" write.
 */

import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Table } from "../../store/store.ts";
import {
  type ExpiringTable,
  type ExpiryPorts,
  openExpiringTable,
} from "../../store/tables/expiring-table.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import type { SessionRow } from "./session.ts";

/** 256 random bits, base64url. */
const TOKEN = /^[\w-]{43}$/;
/** The oldest sessions of a person end beyond this. */
const MOST_OF_A_PERSON = 50;

export interface LiveSession {
  readonly row: SessionRow;
  readonly hash: string;
}

export interface SessionsOptions extends ExpiryPorts {
  /** 32 bytes. */
  readonly csrfSecret: Uint8Array;
}

export class Sessions {
  readonly #clock: Clock;
  readonly #csrfSecret: Uint8Array;
  /** [hash of the token]. */
  readonly #rows: ExpiringTable<SessionRow>;
  /** [user id, session id] → hash. */
  readonly #byUser: Table<string>;
  /** [issuer, the provider's session, session id] → hash. */
  readonly #bySid: Table<string>;

  constructor({ csrfSecret, ...ports }: SessionsOptions) {
    this.#clock = ports.clock;
    this.#csrfSecret = csrfSecret;
    this.#byUser = ports.store.table("identity.sessions_of_users");
    this.#bySid = ports.store.table("identity.sessions_by_sid");
    this.#rows = openExpiringTable({
      ...ports,
      rows: "identity.sessions",
      periods: "identity.session_days",
      onRemove: (_, row) => this.#unlist(row),
    });
  }

  /** In an act. @returns the token, which is stored nowhere */
  add(row: SessionRow): string {
    const token = randomBytes(32).toString("base64url");
    const key = hashOf(token);
    this.#rows.put([key], row, row.endsAtMs);
    this.#byUser.put([row.userId, row.id], key);
    if (row.sid !== "") this.#bySid.put([row.iss, row.sid, row.id], key);
    for (const old of this.of(row.userId).slice(0, -MOST_OF_A_PERSON)) this.end(old);
    return token;
  }

  /** A session that has not ended. */
  find(token: string): LiveSession | undefined {
    if (!TOKEN.test(token)) return undefined;
    const key = hashOf(token);
    const row = this.#rows.get([key]);
    return row === undefined || this.#clock.now() >= row.endsAtMs ? undefined : { row, hash: key };
  }

  /** Sessions of a person, oldest first. */
  of(userId: string): LiveSession[] {
    return this.#listed(this.#byUser, [userId]);
  }

  /** In an act. */
  end({ row, hash }: LiveSession): void {
    this.#rows.remove([hash]);
    this.#unlist(row);
  }

  /** In an act. */
  endAllOf(userId: string): void {
    for (const session of this.of(userId)) this.end(session);
  }

  /** In an act: nothing of the person's sessions stays, those that ended included. */
  forgetAllOf(userId: string): void {
    for (const { value } of this.#byUser.range({ start: [userId], end: [userId, PAST_IDS] })) {
      const row = this.#rows.get([value]);
      if (row !== undefined) this.end({ row, hash: value });
    }
  }

  /** In an act: what a provider's own session opened here. */
  endBySid(iss: string, sid: string): void {
    for (const session of this.#listed(this.#bySid, [iss, sid])) this.end(session);
  }

  /** In an act. */
  setActiveOrg({ hash }: LiveSession, activeOrgId: string): void {
    const row = this.#rows.get([hash]);
    if (row !== undefined) this.#rows.put([hash], { ...row, activeOrgId }, row.endsAtMs);
  }

  /** Derived, so that it needs no row; it changes with the session. */
  csrfOf({ hash }: Pick<LiveSession, "hash">): string {
    return createHmac("sha256", this.#csrfSecret).update(hash).digest("base64url");
  }

  isCsrf(session: LiveSession, sent: string): boolean {
    const right = Buffer.from(this.csrfOf(session));
    const given = Buffer.from(sent);
    return given.length === right.length && timingSafeEqual(given, right);
  }

  close(): void {
    this.#rows.close();
  }

  #listed(index: Table<string>, group: string[]): LiveSession[] {
    const live: LiveSession[] = [];
    for (const { value } of index.range({ start: group, end: [...group, PAST_IDS] })) {
      const row = this.#rows.get([value]);
      if (row !== undefined && this.#clock.now() < row.endsAtMs) live.push({ row, hash: value });
    }
    return live;
  }

  #unlist(row: SessionRow): void {
    this.#byUser.remove([row.userId, row.id]);
    if (row.sid !== "") this.#bySid.remove([row.iss, row.sid, row.id]);
  }
}

const hashOf = (token: string): string => hash("sha256", token, "base64url");
