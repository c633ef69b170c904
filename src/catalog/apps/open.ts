/** Opens the apps: the registry, and what everybody may see of apps and models. */
import type { AccountTables } from "../../account/tables.ts";
import type { Clock } from "../../base/clock.ts";
import type { Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import type { Catalog } from "../models/catalog.ts";
import type { MeasuredModel } from "../models/stats-operations.ts";
import { appOperations } from "./app-operations.ts";
import { AppTables } from "./app-tables.ts";
import { type PublicAppDeps, PublicApps } from "./public-operations.ts";

export interface AppPorts {
  /** Orgs behind a public figure. */
  readonly minOrgs: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly accounts: AccountTables;
  /** What is measured of all orgs' calls. */
  readonly figures: PublicAppDeps["figures"];
  /** Undefined while analytics is unreachable. */
  readonly modelStats: (modelId: string) => Promise<Pick<MeasuredModel, "series"> | undefined>;
  readonly addressAt: PublicAppDeps["addressAt"];
  readonly drawBadge: PublicAppDeps["drawBadge"];
  readonly catalog: Catalog;
  readonly trail: Trail;
  readonly quotas: Quotas;
}

export interface AppRoom {
  readonly tables: AppTables;
  readonly operations: ReturnType<typeof appOperations> & PublicApps["operations"];
  /** What is measured of a model, with the public apps that use it; undefined while analytics is unreachable. */
  modelStats(modelId: string): Promise<MeasuredModel | undefined>;
}

export function openAppRoom(ports: AppPorts): AppRoom {
  const tables = new AppTables(ports.store);
  const shown = new PublicApps({
    ...ports,
    apps: tables,
    hasModel: (id) => ports.catalog.current().models.has(id),
  });
  return {
    tables,
    operations: { ...appOperations({ ...ports, apps: tables }), ...shown.operations },
    async modelStats(modelId) {
      const [stats, apps] = await Promise.all([ports.modelStats(modelId), shown.usesOf(modelId)]);
      return stats && { ...stats, apps };
    },
  };
}
