/** Who may call a route: one column of the route table, printed in `/openapi.json` and in docs/account.md. */
import type { Least } from "../account/roles.ts";
import type { Scope } from "../account/scopes.ts";

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

/** Splits the column. Neither key nor person may call what is `public`, for `operator` or for `directory` by these needs. */
export function needsOf(access: Access): Needs {
  if (access === "anyone") return { key: "key", person: "everyone" };
  if (access === "public" || access === "operator" || access === "directory") return NOBODY;
  const [key, person] = access.split(" / ") as [KeySide, PersonSide | undefined];
  return { key: key === "no key" ? undefined : key, person };
}

const NOBODY: Needs = { key: undefined, person: undefined };

/** The column in words, for the documentation. */
export function accessText(access: Access): string {
  if (access === "public") return "Needs no credential.";
  if (access === "anyone") return "Needs no credential; one that is sent says whose org asks.";
  if (access === "operator") return "For operators of the installation.";
  if (access === "directory") return "Needs the token of the org's directory.";
  const { key, person } = needsOf(access);
  const keyText =
    key === undefined ? [] : [key === "key" ? "a working key" : `a key with the scope \`${key}\``];
  const personText = person === undefined ? [] : [personNeeds(person)];
  return `Needs ${[...keyText, ...personText].join(", or ")}.`;
}

function personNeeds(person: PersonSide): string {
  if (person === "signed in") return "a signed-in person";
  return person === "everyone" ? "a person of the org" : `a person of the org who may act as \`${person}\``;
}
