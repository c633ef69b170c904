/**
 * Orgs and callers for the walk of access: put into the store before the start, because no route makes a closed org with keys,
 * a session that has ended or a person who is disabled.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Sessions } from "../../../src/account/identity/sessions.ts";
import { type KeyOrder, newKey } from "../../../src/account/key.ts";
import { newOrg, type OrgRow, type SecuritySettings } from "../../../src/account/org.ts";
import { invitedUser, type UserRow } from "../../../src/account/person.ts";
import { newProject } from "../../../src/account/project.ts";
import { ROLES, type Role } from "../../../src/account/roles.ts";
import { newSecret } from "../../../src/account/secret.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { NEWEST_SVC_VERSION } from "../../../src/account/versions.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { newId } from "../../../src/base/ids.ts";
import { SCOPES, type Scope } from "../../../src/base/operation/access.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import { openCredits } from "../../../src/credits/ledger/credits.ts";
import { openStore } from "../../../src/store/store.ts";
import { seededFolder } from "../../support/gateway.ts";

/** What a caller is, as far as the table cares. Absent: nothing of the kind. */
export interface Caller {
  readonly name: string;
  /** As a bearer credential. */
  readonly secret?: string;
  /** Value of the session cookie. */
  readonly token?: string;
  readonly csrf?: "right" | "wrong" | "none";
  /** The org that the request names, in its path or by `svc-org`. */
  readonly org: { readonly id: string; readonly slug: string };
  /** How it names it. */
  readonly by: "id" | "slug";
  /** The key whose secret is sent. */
  readonly key?: {
    readonly state: "good" | "unknown" | "revoked" | "expired";
    readonly scopes: readonly Scope[];
    /** Belongs to the org that the request names. */
    readonly isOwn: boolean;
  };
  /** The person whose session it is. */
  readonly person?: {
    readonly state: "live" | "ended" | "disabled" | "unknown";
    /** In the org that the request names; absent: no member. */
    readonly role?: Role;
    readonly isOperator?: boolean;
  };
  readonly isOperatorKey?: boolean;
  readonly orgStatus: OrgRow["status"];
  /** What of the org's security keeps the person out. */
  readonly barred?: "hours" | "address" | "factor";
}

export interface SeededWorld {
  readonly folder: string;
  /** In the order of the walk. The secret of the operator is filled in by the test, from its file. */
  readonly callers: readonly Caller[];
  readonly projectId: string;
  readonly owner: Caller;
  readonly fullSecret: string;
  /** Ids of members whom nobody needs. */
  readonly spare: string[];
}

export const OPERATOR_EMAIL = "operator@example.com";

/** Puts rows in one act. */
class Seed {
  readonly callers: Caller[] = [];
  readonly #accounts: AccountTables;
  readonly #sessions: Sessions;
  readonly #nowMs = systemClock.now();
  #people = 0;

  constructor(accounts: AccountTables, sessions: Sessions) {
    this.#accounts = accounts;
    this.#sessions = sessions;
  }

  org(slug: string, differing: Partial<OrgRow> = {}, security: Partial<SecuritySettings> = {}): OrgRow {
    const made = newOrg(
      { slug, name: slug, kind: "team", billingCountry: "US", planId: "local" },
      this.#nowMs,
    );
    const org = { ...made, ...differing, security: { ...made.security, ...security } };
    this.#accounts.addOrg(org);
    return org;
  }

  project({ id: orgId }: OrgRow): string {
    const row = newProject({ orgId, slug: "default", name: "Default", environment: "live" }, this.#nowMs);
    this.#accounts.addProject(row);
    return row.id;
  }

  user(differing: Partial<UserRow> = {}): UserRow {
    const email = `person-${++this.#people}@example.com`;
    const row: UserRow = {
      ...invitedUser(email, this.#nowMs),
      iss: "built-in",
      sub: email,
      isEmailVerified: true,
      status: "active",
      ...differing,
    };
    this.#accounts.people.putUser(row);
    return row;
  }

  member(org: OrgRow, role: Role, user = this.user()): UserRow {
    const row = { orgId: org.id, userId: user.id, role, addedAtMs: this.#nowMs, source: "creation" } as const;
    this.#accounts.people.putMember(row);
    return user;
  }

  /** @param ageMs how long ago the person signed in; its end is a day after that unless told */
  session(user: UserRow, ageMs = 0, lastsMs = 24 * HOUR_MS): string {
    const createdAtMs = this.#nowMs - ageMs;
    return this.#sessions.add({
      id: newId("ses", this.#nowMs),
      userId: user.id,
      iss: user.iss,
      sid: "",
      amr: ["pwd"],
      acr: "",
      idToken: "",
      activeOrgId: "",
      ipPrefix: "127.0.0.0/24",
      userAgent: "tests",
      createdAtMs,
      endsAtMs: createdAtMs + lastsMs,
    });
  }

  key(
    orgId: string,
    projectId: string,
    scopes: readonly Scope[],
    ended: "no" | "revoked" | "expired" = "no",
  ) {
    const secret = newSecret("live");
    const order: KeyOrder = {
      orgId,
      projectId,
      name: "walk",
      environment: "live",
      scopes,
      limits: {},
      budget: { dailyMicroUsd: null, hard: true },
      onDisconnect: "cancel",
      svcVersion: NEWEST_SVC_VERSION,
      lifetimeMs: null,
      rotatedFrom: null,
      createdBy: "",
    };
    const row = newKey(order, secret, this.#nowMs - HOUR_MS);
    const past = this.#nowMs - 60_000;
    this.#accounts.addKey({
      ...row,
      ...(ended === "revoked" && { revokedAtMs: past, isRevoked: true }),
      ...(ended === "expired" && { expiresAtMs: past }),
    });
    return secret;
  }
}

/** A folder for a gateway with every caller of the walk, and what a walk needs besides. */
export async function seedWorld(): Promise<SeededWorld> {
  const folder = await seededFolder(() => {});
  mkdirSync(join(folder, "config"), { recursive: true });
  const store = openStore(join(folder, "data"));
  const accounts = new AccountTables(store);
  const fail = (error: unknown): never => {
    throw error;
  };
  const sessions = new Sessions({ store, clock: systemClock, csrfSecret: Buffer.alloc(32), onFailure: fail });
  try {
    const { book } = openCredits({ store, clock: systemClock });
    const grant = { kind: "grant", amountMicroUsd: 25_000_000, refType: "test" } as const;
    return {
      folder,
      ...(await accounts.act(() => {
        const world = seed(new Seed(accounts, sessions));
        for (const { id } of accounts.orgsNewestFirst()) book.post(id, { ...grant, refId: id });
        return world;
      })),
    };
  } finally {
    sessions.close();
    await store.close();
  }
}

function seed(rows: Seed): Omit<SeededWorld, "folder"> {
  const main = rows.org("main");
  const other = rows.org("other");
  const projectId = rows.project(main);
  const otherProjectId = rows.project(other);
  const own = { org: main, by: "id", orgStatus: "active" } as const;
  const fullSecret = rows.key(main.id, projectId, SCOPES);
  const owner: Caller = {
    ...own,
    name: "an owner",
    csrf: "right",
    token: rows.session(rows.member(main, "owner")),
    person: { state: "live", role: "owner" },
  };
  const mixed: Caller = {
    ...own,
    name: "a key without scope, sent by an owner's browser",
    token: owner.token ?? "",
    secret: rows.key(main.id, projectId, ["read:payloads"]),
    csrf: "right",
    key: { state: "good", scopes: ["read:payloads"], isOwn: true },
  };
  const callers: Caller[] = [
    { ...own, name: "nobody" },
    ...keysOf(rows, main, projectId),
    {
      ...own,
      name: "a key of another org",
      secret: rows.key(other.id, otherProjectId, SCOPES),
      key: { state: "good", scopes: SCOPES, isOwn: false },
    },
    owner,
    ...ROLES.filter((role) => role !== "owner").map(
      (role): Caller => ({
        ...own,
        name: `a person as ${role}`,
        csrf: "right",
        by: role === "viewer" ? "slug" : "id",
        token: rows.session(rows.member(main, role)),
        person: { state: "live", role },
      }),
    ),
    mixed,
    ...sessionsOf(rows, main, other),
    ...keptOut(rows),
    { ...own, name: "the operator key", isOperatorKey: true },
  ];
  const spare = Array.from({ length: 60 }, () => rows.member(main, "viewer").id);
  return { callers, projectId, owner, fullSecret, spare };
}

/** Each scope alone, all together, and keys that do not work. */
function keysOf(rows: Seed, org: OrgRow, projectId: string): Caller[] {
  const own = { org, by: "id", orgStatus: "active" } as const;
  const key = (name: string, scopes: readonly Scope[], state: "good" | "revoked" | "expired"): Caller => ({
    ...own,
    name,
    key: { state, scopes, isOwn: true },
    secret: rows.key(org.id, projectId, scopes, state === "good" ? "no" : state),
  });
  return [
    ...SCOPES.map((scope) => key(`a key with ${scope} alone`, [scope], "good")),
    { ...key("a key with every scope", SCOPES, "good"), by: "slug" },
    key("a revoked key", SCOPES, "revoked"),
    key("an expired key", SCOPES, "expired"),
    {
      ...own,
      name: "a key that never was",
      secret: newSecret("live"),
      key: { state: "unknown", scopes: [], isOwn: true },
    },
  ];
}

/** Owners whose request or session lacks something, and people who are none of the org. */
function sessionsOf(rows: Seed, main: OrgRow, other: OrgRow): Caller[] {
  const own = { org: main, by: "id", orgStatus: "active" } as const;
  const boss = rows.member(main, "owner");
  const stranger = rows.member(other, "owner");
  const disabled = rows.member(main, "owner", rows.user({ status: "disabled" }));
  const person = (name: string, token: string, rest: Partial<Caller> = {}): Caller => ({
    ...own,
    name,
    token,
    csrf: "right",
    person: { state: "live", role: "owner" },
    ...rest,
  });
  return [
    person("an owner without CSRF token", rows.session(boss), { csrf: "none" }),
    person("an owner with a wrong CSRF token", rows.session(boss), { csrf: "wrong" }),
    person("an owner whose session has ended", rows.session(boss, 25 * HOUR_MS), {
      person: { state: "ended", role: "owner" },
    }),
    person("somebody with a made-up session", "A".repeat(43), { person: { state: "unknown" } }),
    person("a disabled owner", rows.session(disabled), { person: { state: "disabled", role: "owner" } }),
    person("the owner of another org, by id", rows.session(stranger), { person: { state: "live" } }),
    person("the owner of another org, by slug", rows.session(stranger), {
      person: { state: "live" },
      by: "slug",
    }),
    person("an operator without membership", rows.session(rows.user({ email: OPERATOR_EMAIL })), {
      person: { state: "live", isOperator: true },
    }),
    person(
      "somebody whose operator's address nobody verified",
      rows.session(rows.user({ email: OPERATOR_EMAIL, isEmailVerified: false })),
      { person: { state: "live" } },
    ),
  ];
}

/** Owners and keys of orgs that are closed, suspended, or do not admit the session. */
function keptOut(rows: Seed): Caller[] {
  const ended = (["closed", "suspended"] as const).flatMap((orgStatus): Caller[] => {
    const org = rows.org(orgStatus, { status: orgStatus });
    const own = { org, by: "id", orgStatus } as const;
    return [
      {
        ...own,
        name: `a key of a ${orgStatus} org`,
        secret: rows.key(org.id, rows.project(org), SCOPES),
        key: { state: "good", scopes: SCOPES, isOwn: true },
      },
      ...ROLES.map(
        (role): Caller => ({
          ...own,
          name: `a person as ${role} of a ${orgStatus} org`,
          csrf: "right",
          token: rows.session(rows.member(org, role)),
          person: { state: "live", role },
        }),
      ),
    ];
  });
  const barred = (
    name: string,
    org: OrgRow,
    by: NonNullable<Caller["barred"]>,
    ageMs = 0,
    role: Role = "owner",
  ): Caller => ({
    org,
    by: "id",
    orgStatus: org.status,
    name,
    barred: by,
    csrf: "right",
    token: rows.session(rows.member(org, role), ageMs),
    person: { state: "live", role },
  });
  const addresses = rows.org("addresses", {}, { consoleIpAllow: ["192.0.2.0/24"] });
  const factors = rows.org("factors", { status: "closed" }, { require2fa: true });
  const hours = rows.org("hours", {}, { sessionHours: 2, consoleIpAllow: ["192.0.2.0/24"] });
  return [
    ...ended,
    barred("an owner whose session is older than the org allows", hours, "hours", 3 * HOUR_MS),
    barred("an owner at an address that the org does not allow", addresses, "address"),
    barred("a viewer at an address that the org does not allow", addresses, "address", 0, "viewer"),
    barred("an owner without the second factor of a closed org", factors, "factor"),
  ];
}
