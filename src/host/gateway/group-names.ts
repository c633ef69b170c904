/** Names beside the ids of groups of usage, from the account, the catalog and the registered apps. */
import type { AccountTables } from "../../account/tables.ts";
import type { GroupName, GroupNames, NamedKind } from "../../analytics/usage/group-names.ts";
import { AppTables } from "../../catalog/apps/app-tables.ts";
import { claimsOf } from "../../catalog/apps/claims.ts";
import type { Catalog } from "../../catalog/models/catalog.ts";
import type { Store } from "../../store/store.ts";

interface NamePorts {
  readonly accounts: Pick<AccountTables, "org" | "project" | "key">;
  readonly catalog: Pick<Catalog, "current">;
  readonly store: Store;
}

/** Reads a row for each id. Nothing is kept. */
export function groupNames({ accounts, catalog, store }: NamePorts): GroupNames {
  const apps = new AppTables(store);

  /** How to name one thing; what an org's apps claim is put together once for all ids. */
  function namer(kind: NamedKind, orgId: string): (id: string) => GroupName | undefined {
    switch (kind) {
      case "org":
        return (id) => named(accounts.org(id)?.name);
      case "project":
        return (id) => named(ofOrg(accounts.project(id), orgId)?.name);
      case "key":
        return (id) => {
          const key = ofOrg(accounts.key(id), orgId);
          return key && { name: key.name, hint: key.hint };
        };
      case "app": {
        const claims = claimsOf(apps.of(orgId));
        return (id) => named(apps.app(claims.get(id) ?? "")?.name);
      }
      case "provider":
        return (id) => named(catalog.current().providers.get(id)?.name);
      case "model":
        return (id) => named(catalog.current().models.get(id)?.name);
    }
  }

  return (kind, orgId, ids) => {
    const nameOf = namer(kind, orgId);
    const known = ids.map((id) => [id, nameOf(id)] as const);
    return new Map(known.filter((pair): pair is [string, GroupName] => pair[1] !== undefined));
  };
}

const named = (name: string | undefined): GroupName | undefined =>
  name === undefined ? undefined : { name };

const ofOrg = <T extends { readonly orgId: string }>(row: T | undefined, orgId: string): T | undefined =>
  row?.orgId === orgId ? row : undefined;
