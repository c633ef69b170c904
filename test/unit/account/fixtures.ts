/** What the tests of keys and projects stand on: a first start in a folder of its own, time and plan set by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { firstStart } from "../../../src/account/first-start.ts";
import { type KeyOrder, type KeyRow, newKey } from "../../../src/account/key.ts";
import { callerOf, Keyring } from "../../../src/account/keyring.ts";
import { LastUsed } from "../../../src/account/keys/last-used.ts";
import { accountOperations } from "../../../src/account/operations.ts";
import type { Lock } from "../../../src/account/org-wire.ts";
import { openOrgsMade } from "../../../src/account/orgs/ownership.ts";
import { type InvitationMail, openInvitationCounts } from "../../../src/account/people/member-operations.ts";
import { invitedUser } from "../../../src/account/person.ts";
import type { PlanLimits } from "../../../src/account/plan-limits.ts";
import { type Role, scopesOf } from "../../../src/account/roles.ts";
import { hashSecret, newSecret } from "../../../src/account/secret.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { Tickets } from "../../../src/account/tickets/tickets.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { cursors } from "../../../src/base/operation/cursor.ts";
import type { AnyOperation, Caller } from "../../../src/base/operation/operation.ts";
import { type Quotas, USUAL_QUOTAS } from "../../../src/base/quota.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { slowPattern } from "../../../src/workers/pattern-trial.ts";
import { ManualClock } from "../../support/credits/fixtures.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { ORIGIN, type TestTrail, trailOn } from "../../support/trail.fixtures.ts";

/** A key or a project as it is answered; `secret` only where one was made. */
export type Wire = Record<string, unknown> & { id: string; secret: string; status: string };
export interface Page {
  data: Wire[];
  next_cursor: string;
}
interface Input {
  id?: string;
  query?: object;
  body?: unknown;
}

/** When every test begins. */
export const START = Date.UTC(2026, 8, 9);
const PLAN: PlanLimits = { rpm: 60, tpm: 10_000, concurrency: 5, keys: 500, projects: 5, autoApprove: 2 };
const failing = (error: unknown): never => {
  throw error;
};
/** The warning about a region that the catalog lacks. */
export const NO_MARS = { path: "/data_policy/regions/0", message: 'there is no endpoint in region "mars"' };
const NOTHING = { todayMicroUsd: 0, monthMicroUsd: 0 };

/**
 * For the top of a test file: opens everything anew before each test and throws it away after. The functions may be
 * taken out once; the rest is another for every test, so read it from the rig.
 * @param spent by the owner's project; no other has spent anything.
 */
export function accountRig(spent = NOTHING) {
  let clock: ManualClock;
  let plan: PlanLimits;
  let quotas: { -readonly [Quota in keyof Quotas]: number };
  let dataDir: string;
  let store: Store;
  let accounts: AccountTables;
  let lastUsed: LastUsed;
  let keyring: Keyring;
  let ops: ReturnType<typeof accountOperations>;
  let secrets: { live: string; test: string };
  let owner: Caller | undefined;
  let trail: TestTrail;
  let mails: InvitationMail[];
  let reported: string[];
  let locks: readonly Lock[];
  let hasDirectory: boolean;

  beforeEach(async () => {
    clock = new ManualClock(new Date(START).toISOString());
    plan = PLAN;
    quotas = { ...USUAL_QUOTAS };
    dataDir = mkdtempSync(join(tmpdir(), "weir-account-"));
    store = openStore(dataDir);
    accounts = new AccountTables(store);
    lastUsed = new LastUsed(accounts);
    keyring = newKeyring();
    trail = trailOn(store, clock, quotas);
    [mails, reported] = [[], []];
    locks = [];
    hasDirectory = true;
    ops = accountOperations({
      accounts,
      clock,
      lastUsed,
      trail: trail.trail,
      jobs: trail.jobs,
      tickets: new Tickets(store, quotas),
      invitationCounts: openInvitationCounts({ store, clock, onFailure: failing }),
      previewRedaction: () => Promise.reject(new Error("there are no workers here")),
      slowPattern: async (patterns) => slowPattern(patterns),
      sendInvitation: (mail) => void mails.push(mail),
      sendKeyReported: ({ keyId }) => void reported.push(keyId),
      orgsMade: openOrgsMade({ store, clock, onFailure: failing }),
      quotas,
      playgroundDailyMicroUsd: 1_000_000,
      freePlanId: "free",
      maxOrgsOfPerson: 5,
      hasPaid: () => false,
      hasDirectory: () => hasDirectory,
      locksOf: () => locks,
      dataPolicyWarnings: ({ regions }) => (regions.includes("mars") ? [NO_MARS] : []),
      creditLeft: () => ({ paidMicroUsd: 7, grantedMicroUsd: 3, refunds: [] }),
      cursors: cursors(Buffer.alloc(32, 1)),
      plan: () => plan,
      spend: (id) => (id === theOwner().projectId ? spent : NOTHING),
    });
    const made = await firstStart({ accounts, clock, dataDir, planId: "free" });
    secrets = { live: made?.liveSecret ?? "", test: made?.testSecret ?? "" };
    owner = undefined;
  });
  afterEach(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });

  const newKeyring = (capacity?: number): Keyring =>
    new Keyring({
      accounts,
      clock,
      lastUsed,
      plan: () => plan,
      ...(capacity === undefined ? {} : { capacity }),
    });

  /** Who signs a request with this secret. */
  const caller = (secret: string): Caller =>
    callerOf(keyring.resolve(secret), "01J00000000000000000000000", ORIGIN);
  /** Resolved when first asked for, so that a test that never asks has no key that was used. */
  const theOwner = (): Caller => {
    owner ??= caller(secrets.live);
    return owner;
  };

  const rowOf = (secret: string): KeyRow => {
    const row = accounts.keyByHash(hashSecret(secret));
    if (row === undefined) throw new Error("no such key");
    return row;
  };
  /** Adds a key like the owner's but for `differing`, past the operations; gives its secret. */
  async function addKey(differing: Partial<KeyOrder> = {}): Promise<string> {
    const secret = newSecret("live");
    await accounts.act(() =>
      accounts.addKey(newKey({ ...rowOf(secrets.live), ...differing }, secret, clock.now())),
    );
    return secret;
  }

  /** Runs an operation as the edge does: inputs through its schemas, and its answer too. */
  async function call<T = Wire>(name: keyof typeof ops, by = theOwner(), input: Input = {}): Promise<T> {
    const op = ops[name] as AnyOperation;
    const answer = await op.run(
      {
        params: op.params?.parse({ id: input.id, org: by.orgId, user: input.id }),
        query: op.query?.parse(input.query ?? {}),
        body: op.body?.parse(input.body),
      },
      by,
      NO_HEAD,
    );
    expect(op.output.parse(answer)).toEqual(answer);
    return answer as T;
  }

  /** Puts a person into an org and gives the caller that they are with a session. */
  async function person(role: Role, given: { orgId?: string; email?: string } = {}): Promise<Caller> {
    const { orgId = theOwner().orgId, email = `${role}@example.com` } = given;
    const nowMs = clock.now();
    const user = { ...invitedUser(email, nowMs), iss: "test", sub: email, status: "active" } as const;
    await accounts.act(() => {
      accounts.people.putUser(user);
      accounts.people.putMember({ orgId, userId: user.id, role, addedAtMs: nowMs, source: "creation" });
    });
    return {
      requestId: "01J00000000000000000000000",
      origin: ORIGIN,
      orgId,
      projectId: "",
      environment: "live",
      actor: { kind: "person", id: user.id },
      scopes: new Set(scopesOf(role)),
    };
  }

  return {
    person,
    /** Mails of invitation, in the order they were put. */
    get mails(): InvitationMail[] {
      return mails;
    },
    /** Keys of which a mail says that they were reported. */
    get reported(): string[] {
      return reported;
    },
    get trail(): TestTrail {
      return trail;
    },
    /** Why the caller's session does not open the org. */
    set locks(by: readonly Lock[]) {
      locks = by;
    },
    /** Whether the org's directory has a token that works. */
    set hasDirectory(is: boolean) {
      hasDirectory = is;
    },
    get clock(): ManualClock {
      return clock;
    },
    get plan(): PlanLimits {
      return plan;
    },
    set plan(to: PlanLimits) {
      plan = to;
    },
    /** Quotas for what is done from now on. */
    set quotas(to: Partial<Quotas>) {
      Object.assign(quotas, to);
    },
    caughtUp: () => store.caughtUp(),
    get dataDir(): string {
      return dataDir;
    },
    get accounts(): AccountTables {
      return accounts;
    },
    get lastUsed(): LastUsed {
      return lastUsed;
    },
    get keyring(): Keyring {
      return keyring;
    },
    get ops(): typeof ops {
      return ops;
    },
    /** Secrets of the two keys that the first start makes. */
    get secrets(): typeof secrets {
      return secrets;
    },
    /** Who signs with the live one. */
    get owner(): Caller {
      return theOwner();
    },
    newKeyring,
    caller,
    rowOf,
    addKey,
    call,
    create: (body: object = {}, by?: Caller) => call("createKey", by, { body: { name: "k", ...body } }),
    get: (id: string, by?: Caller) => call("getKey", by, { id }),
    patch: (id: string, body: object, by?: Caller) => call("updateKey", by, { id, body }),
    revoke: (id: string, by?: Caller) => call("revokeKey", by, { id }),
    rotate: (id: string, body: object | undefined, by?: Caller) => call("rotateKey", by, { id, body }),
    list: (query: object = {}, by?: Caller) => call<Page>("listKeys", by, { query }),
  };
}

type Act = Promise<unknown> | (() => unknown);

/** What an act is refused with; undefined where it is done. Any other error goes on. */
async function refusal(act: Act): Promise<WeirError | undefined> {
  try {
    await (typeof act === "function" ? act() : act);
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
  return undefined;
}

/** `kind param` of the error an act fails with, else `done`. */
export async function failure(act: Act): Promise<string> {
  const error = await refusal(act);
  return error === undefined ? "done" : [error.kind, error.param].filter(Boolean).join(" ");
}

/** The same without the param. */
export const failureKind = async (act: Act): Promise<string> => (await refusal(act))?.kind ?? "done";
