/**
 * Scopes of keys. Which route requires which scope is defined in the route table.
 */
import { fail } from "../errors.ts";
import type { Caller } from "../operation.ts";
import type { Environment } from "./secret.ts";

export const SCOPES = [
  "inference",
  "read:usage",
  "read:catalog",
  "read:billing",
  "write:billing",
  "read:keys",
  "write:keys",
  "read:org",
  "write:org",
  "read:policies",
  "write:policies",
  "read:payloads",
] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * Scopes of an installation's first key, and of keys that `weir keys create` makes: all but `read:payloads`, which
 * shows other projects' requests and answers and must be granted explicitly.
 */
export const FIRST_KEY_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== "read:payloads");

/** Scopes of a key created without `scopes`. */
export const DEFAULT_SCOPES: readonly Scope[] = ["inference", "read:usage"];

/** Each scope once, in the order of {@link SCOPES}. */
export const orderedScopes = (scopes: readonly Scope[]): Scope[] => SCOPES.filter((s) => scopes.includes(s));

/** A key with both administers the org: it creates keys and projects, and so decides which key reads which payloads. */
const ADMINISTERS: readonly Scope[] = ["write:keys", "write:org"];

/** Whether these scopes administer an org. */
export const administers = (scopes: ReadonlySet<string>): boolean =>
  ADMINISTERS.every((scope) => scopes.has(scope));

/**
 * A caller may grant only scopes that it holds. The exception is `read:payloads`, which no key has at first: a caller
 * that administers the org (`write:keys` and `write:org`) may grant it.
 * @param param JSON pointer of the list in the request, where it has one.
 */
export function assertMayGrant(caller: Caller, granted: readonly Scope[], param?: string): void {
  const isAdministrator = administers(caller.scopes);
  const missing = granted.filter(
    (scope) => !caller.scopes.has(scope) && !(scope === "read:payloads" && isAdministrator),
  );
  if (missing.length === 0) return;
  throw fail("scope", `This key does not hold ${missing.join(", ")}, so it cannot grant it.`, {
    ...(param === undefined ? {} : { param }),
    details: { missing },
  });
}

/** A test key spends nothing, so it must not change anything that spends: it may change only the test environment. */
export function assertMayChange(caller: Caller, environment: Environment): void {
  if (caller.environment === "test" && environment === "live") {
    throw fail("scope", "A test key can change test keys and test projects only.");
  }
}
