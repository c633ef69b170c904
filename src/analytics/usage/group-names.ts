/** Names beside the ids of groups: where they come from, and which of them a caller may be shown. */
import type { Scope } from "../../base/operation/access.ts";
import type { Caller } from "../../base/operation/operation.ts";

/** What a group may be named after. */
export type NamedKind = "org" | "project" | "key" | "app" | "provider" | "model";

export interface GroupName {
  readonly name: string;
  /** The end of a key's secret. */
  readonly hint?: string;
}

/**
 * Port: what people call the things of these ids, at most as many as an answer has groups. What is not known, or is another org's, is left
 * out. A look-up in memory and the store.
 */
export type GroupNames = (
  kind: NamedKind,
  orgId: string,
  ids: readonly string[],
) => ReadonlyMap<string, GroupName>;

/** The scope by which the names of a kind are listed elsewhere; undefined: they are for all who may read usage. */
const SCOPE_OF: Readonly<Record<NamedKind, Scope | undefined>> = {
  org: undefined,
  project: "read:org",
  app: "read:org",
  key: "read:keys",
  provider: undefined,
  model: undefined,
};

/**
 * Names the groups of one answer.
 * @param kind as `group_by` says it
 * @returns the name of a group's id: empty where it is not known, or where the caller may not list such things
 */
export function namesOfGroups(
  names: GroupNames,
  kind: string | undefined,
  { orgId, scopes }: Pick<Caller, "orgId" | "scopes">,
  ids: readonly string[],
): (id: string) => GroupName {
  if (kind === undefined || !isNamed(kind)) return () => NAMELESS;
  const scope = SCOPE_OF[kind];
  if (scope !== undefined && !scopes.has(scope)) return () => NAMELESS;
  const known = names(
    kind,
    orgId,
    ids.filter((id) => id !== ""),
  );
  return (id) => known.get(id) ?? NAMELESS;
}

const isNamed = (kind: string): kind is NamedKind => Object.hasOwn(SCOPE_OF, kind);

const NAMELESS: GroupName = Object.freeze({ name: "" });
