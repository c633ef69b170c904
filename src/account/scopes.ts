/**
 * Scopes of keys: which a key has at first, and who may grant them. Which route requires which scope stands with its operation.
 */
import { fail, type WeirError } from "../base/errors.ts";
import { SCOPES, type Scope } from "../base/operation/access.ts";
import type { Caller } from "../base/operation/operation.ts";
import type { KeyRow } from "./key.ts";
import type { Environment } from "./secret.ts";

/**
 * Scopes of an installation's first key, and of keys that `weir keys create` makes: all but `read:payloads`, which
 * shows other projects' requests and answers and must be granted explicitly.
 */
export const FIRST_KEY_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== "read:payloads");

/** Scopes of a key created without `scopes`. */
export const DEFAULT_SCOPES: readonly Scope[] = ["inference", "read:usage"];

/** The 403 of a key that does not hold what a route requires. */
export const lackedByKey = (scope: string): WeirError =>
  fail("scope", `This key lacks the scope "${scope}".`, { details: { scope } });

/** Each scope once, in the order of {@link SCOPES}. */
export const orderedScopes = (scopes: readonly Scope[]): Scope[] => SCOPES.filter((s) => scopes.includes(s));

/** A key with both administers the org: it creates keys and projects, and so decides which key reads which payloads. */
const ADMINISTERS: readonly Scope[] = ["write:keys", "write:org"];

/** Whether these scopes administer an org. */
export const administers = (scopes: ReadonlySet<string>): boolean =>
  ADMINISTERS.every((scope) => scopes.has(scope));

/**
 * Scopes of a list that a caller does not hold. The exception is `read:payloads`, which no key has at first: a caller that
 * administers the org (`write:keys` and `write:org`) counts as holding it.
 */
const missingOf = ({ scopes }: Caller, wanted: readonly Scope[]): Scope[] =>
  wanted.filter((scope) => !scopes.has(scope) && !(scope === "read:payloads" && administers(scopes)));

/**
 * What a caller lacks is their role, where a person asks, else the scopes of their key.
 * @param what the caller cannot do, after "so"
 */
function tooFew(caller: Caller, missing: readonly Scope[], what: string, param?: string): WeirError {
  const more = param === undefined ? {} : { param };
  const scopes = missing.join(", ");
  return caller.actor.kind === "person"
    ? fail("role", `Your role does not hold ${scopes}, so ${what}. An admin can.`, {
        ...more,
        details: { role: "admin", missing },
      })
    : fail("scope", `This key does not hold ${scopes}, so ${what}.`, { ...more, details: { missing } });
}

/**
 * A caller may grant only scopes that it holds.
 * @param param JSON pointer of the list in the request, where it has one.
 * @throws WeirError `role` for a person, `scope` for a key
 */
export function assertMayGrant(caller: Caller, granted: readonly Scope[], param?: string): void {
  const missing = missingOf(caller, granted);
  if (missing.length > 0) throw tooFew(caller, missing, "it cannot be granted", param);
}

/**
 * Call in the act that changes, ends or replaces a key: whoever does so holds every scope of it, and is of its environment. A
 * budget of nothing or an end in an hour is as good as a revocation, so all changes need the same.
 * @throws WeirError `role` for a person, `scope` for a key
 */
export function assertMayActOn(caller: Caller, key: Pick<KeyRow, "id" | "environment" | "scopes">): void {
  assertMayChange(caller, key.environment);
  const missing = missingOf(caller, key.scopes);
  if (missing.length > 0) throw tooFew(caller, missing, `it cannot change or end ${key.id}, which does`);
}

/** A test key spends nothing, so it must not change anything that spends: it may change only the test environment. */
export function assertMayChange(caller: Caller, environment: Environment): void {
  if (caller.environment === "test" && environment === "live") {
    throw fail("scope", "A test key can change test keys and test projects only.");
  }
}
