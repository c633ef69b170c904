/**
 * Resolves a secret to everything a call needs to know about its key, on the hot path: one hash and one map look-up.
 *
 * A context is frozen, and dropped when the row of its key, project or org changes. No stale context can return
 * afterwards (T59): a load reads rows and fills the cache without yielding, so it happens either wholly before the
 * store notifies of the change (which drops the context) or wholly after it (and reads the new rows). Running calls
 * keep the context they started with.
 */

import type { HoldMode } from "../base/call/hold-mode.ts";
import type { OnDisconnect } from "../base/call/on-disconnect.ts";
import type { Clock } from "../base/clock.ts";
import { fail, type WeirError } from "../base/errors.ts";
import type { Scope } from "../base/operation/access.ts";
import type { Caller, Origin } from "../base/operation/operation.ts";
import { type KeyLimits, type KeyRow, keyStatus } from "./key.ts";
import type { LastUsed } from "./keys/last-used.ts";
import type { OrgDataPolicy, OrgRow } from "./org.ts";
import type { PlanPort } from "./plan-limits.ts";
import type { ProjectRow } from "./project.ts";
import { lackedByKey } from "./scopes.ts";
import { type Environment, hashSecret, inspectSecret, SECRET_LENGTH } from "./secret.ts";
import type { AccountTables } from "./tables.ts";

/** A key with its project, org, plan and policy, resolved as far as possible before a call. */
export interface KeyContext {
  readonly keyId: string;
  /** Whose spend, budgets and limits calls of the key count in: see `AccountTables.lineageOf`. */
  readonly lineageId: string;
  readonly projectId: string;
  readonly projectSlug: string;
  readonly orgId: string;
  readonly environment: Environment;
  /** Status at load time; an ended context is never returned. */
  readonly status: "active" | "rotating";
  readonly scopes: ReadonlySet<string>;
  /** The key's own, else the plan's. */
  readonly limits: KeyLimits;
  /** Budgets of the key, its project and its org; undefined: none. `hard`: calls are refused once it is spent. */
  readonly keyBudget: { readonly dailyMicroUsd: number; readonly hard: boolean } | undefined;
  readonly projectBudget: { readonly monthlyMicroUsd: number; readonly hard: boolean } | undefined;
  readonly orgBudget: { readonly monthlyMicroUsd: number; readonly hard: boolean } | undefined;
  /** By how many percent the org's spend of a day must exceed the usual for an alert. Undefined: no alert. */
  readonly spikeAlertPct: number | undefined;
  readonly dataPolicy: OrgDataPolicy;
  /** IANA zone whose midnight resets the budgets. */
  readonly timeZone: string;
  readonly onDisconnect: OnDisconnect;
  /** The key's own, else its project's, else its org's. */
  readonly hold: HoldMode;
  readonly svcVersion: string;
  readonly expiresAtMs: number | undefined;
  /** When the key stops working: expiry or the end of a rotation's grace period, `Infinity` for neither. */
  readonly endsAtMs: number;
}

/** The caller that a key authenticates. */
export const callerOf = (
  { keyId, orgId, projectId, environment, scopes }: KeyContext,
  requestId: string,
  origin: Origin,
): Caller => ({
  requestId,
  actor: { kind: "key", id: keyId },
  origin,
  orgId,
  projectId,
  environment,
  scopes,
});

export interface KeyringOptions {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly plan: PlanPort;
  readonly lastUsed: LastUsed;
  /** Maximum number of cached contexts (about 1 KB each); the most recently used half always stays. */
  readonly capacity?: number;
}

export class Keyring {
  readonly #accounts: AccountTables;
  readonly #clock: Clock;
  readonly #plan: PlanPort;
  readonly #lastUsed: LastUsed;
  readonly #generation: number;
  /**
   * Hash → context in two generations, which drops the least recently used without reordering on every hit: a full
   * young generation becomes the old one, and entries not used until the next change of generation are dropped.
   */
  #young = new Map<string, KeyContext>();
  #old = new Map<string, KeyContext>();

  constructor(options: KeyringOptions) {
    this.#accounts = options.accounts;
    this.#clock = options.clock;
    this.#plan = options.plan;
    this.#lastUsed = options.lastUsed;
    this.#generation = Math.max(1, Math.floor((options.capacity ?? 100_000) / 2));
    options.accounts.watch({
      key: (id, row) => {
        if (row === undefined) return this.#forgetWhere((context) => context.keyId === id);
        // Its secret may have been another one.
        if (row.kind === "playground") return this.#forgetWhere((context) => context.keyId === id);
        this.#forget(row.hash);
        const lineageId = options.accounts.lineageOf(row);
        // Its limits and budget may count for the calls of the key that it replaced.
        if (lineageId !== id) this.#forgetWhere((context) => context.lineageId === lineageId);
      },
      project: (id) => this.#forgetWhere((context) => context.projectId === id),
      org: (id) => this.#forgetWhere((context) => context.orgId === id),
    });
  }

  /**
   * The context of a secret's key, whose use is recorded. Failed look-ups are not cached: a typo costs a checksum, an
   * unknown secret a look-up by a hash of fixed length.
   * @param secret the credential without its `Bearer`; undefined or empty where none was sent.
   * @throws WeirError `missing_key`, `invalid_key`, `expired_key`, `revoked_key`, `org_closed`.
   */
  resolve(secret: string | undefined): KeyContext {
    if (secret === undefined || secret === "")
      throw fail("missing_key", "No API key was sent: send Authorization: Bearer <key>, or x-api-key.");
    // Checked before hashing, whose cost grows with the input.
    if (secret.length !== SECRET_LENGTH) throw foreign();
    const hash = hashSecret(secret);
    const nowMs = this.#clock.now();
    const context = this.#cached(hash) ?? this.#load(this.#rowOf(secret, hash), nowMs);
    this.#assertNotEnded(context, hash, nowMs);
    this.#lastUsed.note(context.keyId, nowMs);
    return context;
  }

  /**
   * The context that a call with the same key would get now. Its use is not recorded.
   * @throws WeirError `invalid_key`, `expired_key`, `revoked_key`, `org_closed`, `org_suspended`, `scope` where it lacks the scope
   */
  current({ keyId }: Pick<KeyContext, "keyId">, scope: Scope): KeyContext {
    const key = this.#accounts.key(keyId);
    if (key === undefined) throw unknown();
    const nowMs = this.#clock.now();
    const context = this.#cached(key.hash) ?? this.#load(key, nowMs);
    this.#assertNotEnded(context, key.hash, nowMs);
    if (!context.scopes.has(scope)) throw lackedByKey(scope);
    return context;
  }

  #cached(hash: string): KeyContext | undefined {
    return this.#young.get(hash) ?? this.#promote(hash);
  }

  /** The status of a cached context is that of its load. */
  #assertNotEnded({ endsAtMs, expiresAtMs }: KeyContext, hash: string, nowMs: number): void {
    if (nowMs < endsAtMs) return;
    this.#forget(hash);
    throw ended(endsAtMs === expiresAtMs ? "expired" : "revoked");
  }

  /** The context of a key that has not ended, for lists of keys, also of an org whose keys do not work now; not cached. */
  contextOf(key: KeyRow): KeyContext {
    const { org, project } = this.#homeOf(key);
    const { limits, budget } = this.#accounts.rulerOf(key, this.#clock.now());
    const defaults = this.#plan(org.planId);
    const { dailyMicroUsd } = budget;
    const { monthlyMicroUsd } = project.budget;
    return Object.freeze({
      keyId: key.id,
      lineageId: this.#accounts.lineageOf(key),
      projectId: key.projectId,
      projectSlug: project.slug,
      orgId: key.orgId,
      environment: key.environment,
      status: key.revokedAtMs === null ? "active" : "rotating",
      scopes: new Set(key.scopes),
      limits: Object.freeze({
        rpm: limits.rpm ?? defaults.rpm,
        tpm: limits.tpm ?? defaults.tpm,
        concurrency: limits.concurrency ?? defaults.concurrency,
      }),
      keyBudget: dailyMicroUsd === null ? undefined : Object.freeze({ dailyMicroUsd, hard: budget.hard }),
      projectBudget:
        monthlyMicroUsd === null ? undefined : Object.freeze({ monthlyMicroUsd, hard: project.budget.hard }),
      orgBudget: orgBudgetOf(org),
      spikeAlertPct: org.budget?.spikeAlertPct ?? undefined,
      dataPolicy: Object.freeze(org.dataPolicy),
      timeZone: org.timeZone,
      onDisconnect: key.onDisconnect,
      hold: key.hold ?? project.hold ?? org.hold ?? "full",
      svcVersion: key.svcVersion,
      expiresAtMs: key.expiresAtMs ?? undefined,
      endsAtMs: Math.min(
        key.expiresAtMs ?? Number.POSITIVE_INFINITY,
        key.revokedAtMs ?? Number.POSITIVE_INFINITY,
      ),
    });
  }

  #homeOf(key: KeyRow): { org: OrgRow; project: ProjectRow } {
    const org = this.#accounts.org(key.orgId);
    const project = this.#accounts.project(key.projectId);
    if (org === undefined || project === undefined) throw fail("internal", `${key.id} has no org or project`);
    return { org, project };
  }

  /** @throws WeirError where the key's org or project does not let it work */
  #assertWorks(key: KeyRow): void {
    const { org, project } = this.#homeOf(key);
    if (org.status === "closed") throw fail("org_closed", "The organisation of this API key is closed.");
    if (org.status === "suspended") {
      throw fail("org_suspended", "The operator has suspended the organisation of this API key.");
    }
    // Deleting a project revokes its keys; this covers a key that was missing from the index of working keys then.
    if (project.status === "deleted") throw ended("revoked");
  }

  /** Cached contexts; never above the capacity. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #promote(hash: string): KeyContext | undefined {
    const context = this.#old.get(hash);
    if (context === undefined) return undefined;
    this.#old.delete(hash);
    this.#keep(hash, context);
    return context;
  }

  #keep(hash: string, context: KeyContext): void {
    if (this.#young.size >= this.#generation) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(hash, context);
  }

  #rowOf(secret: string, hash: string): KeyRow {
    const seen = inspectSecret(secret);
    if (seen === "foreign") throw foreign();
    if (seen === "mistyped") {
      throw fail(
        "invalid_key",
        "The API key is mistyped: its checksum does not match. Copy it again in full.",
      );
    }
    const key = this.#accounts.keyByHash(hash);
    if (key === undefined) throw unknown();
    return key;
  }

  #load(key: KeyRow, nowMs: number): KeyContext {
    const status = keyStatus(key, nowMs);
    if (status === "expired" || status === "revoked") throw ended(status);
    this.#assertWorks(key);
    const context = this.contextOf(key);
    this.#keep(key.hash, context);
    return context;
  }

  #forget(hash: string): void {
    this.#young.delete(hash);
    this.#old.delete(hash);
  }

  #forgetWhere(matches: (context: KeyContext) => boolean): void {
    for (const generation of [this.#young, this.#old]) {
      for (const [hash, context] of generation) if (matches(context)) generation.delete(hash);
    }
  }
}

function orgBudgetOf({ budget }: OrgRow): KeyContext["orgBudget"] {
  const monthlyMicroUsd = budget?.monthlyMicroUsd ?? null;
  if (budget === undefined || monthlyMicroUsd === null) return undefined;
  return Object.freeze({ monthlyMicroUsd, hard: budget.hard });
}

const foreign = (): WeirError =>
  fail("invalid_key", "This is not an API key of this gateway; those begin with svc-live- or svc-test-.");

const unknown = (): WeirError => fail("invalid_key", "There is no such API key.", { isUnknown: true });

const ended = (status: "expired" | "revoked"): WeirError =>
  status === "expired"
    ? fail("expired_key", "The API key has expired.")
    : fail("revoked_key", "The API key has been revoked.");
