/**
 * Who may call a route: one member of each operation, printed in `/openapi.json` and in docs/account.md. What each role opens is in
 * `account/roles.ts`.
 */

/** Scopes of keys. */
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
 * The least role that a route asks for. Roles are no ladder: `billing` has money and nothing else, so `viewer` routes are
 * closed to it. `everyone`: any role in the org.
 */
export const LEAST = ["owner", "admin", "member", "billing", "viewer", "everyone"] as const;
export type Least = (typeof LEAST)[number];

/** What a key must hold; `key`: any working key; `no key`: people only. */
type KeySide = Scope | "key" | "no key";
/** What a person must be; `signed in`: a session is enough, the route belongs to no org. */
export type PersonSide = Least | "signed in";

/**
 * `public`: no credential. `anyone`: none is needed, and one that is sent says who asks. `operator`: operators and the operator
 * key. `directory`: the token of an org's directory. A scope alone: keys only. Otherwise a key with the scope, or a person with the role in the org that the request is about.
 */
export type Access =
  | "public"
  | "anyone"
  | "operator"
  | "directory"
  | Exclude<KeySide, "no key">
  | `${KeySide} / ${PersonSide}`;

export interface Needs {
  /** Undefined: keys are refused. */
  readonly key: Scope | "key" | undefined;
  /** Undefined: people are refused. */
  readonly person: PersonSide | undefined;
}

/**
 * Splits an access into what a key needs and what a person needs. Routes that are `public`, or for `operator` or `directory`, are not
 * opened by a key or a person: both needs are undefined there.
 */
export function needsOf(access: Access): Needs {
  if (access === "anyone") return { key: "key", person: "everyone" };
  if (access === "public" || access === "operator" || access === "directory") return NOBODY;
  const [key, person] = access.split(" / ") as [KeySide, PersonSide | undefined];
  return { key: key === "no key" ? undefined : key, person };
}

const NOBODY: Needs = { key: undefined, person: undefined };
