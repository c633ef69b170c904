/** Opens the apps: the registry, and what everybody may see of apps and models. */
import type { AccountTables } from "../../account/tables.ts";
import type { Analytics } from "../../analytics/analytics.ts";
import type { Clock } from "../../base/clock.ts";
import type { Quotas } from "../../base/quota.ts";
import { appOperations } from "../../catalog/apps/app-operations.ts";
import { AppTables } from "../../catalog/apps/app-tables.ts";
import { PublicApps } from "../../catalog/apps/public-operations.ts";
import type { Catalog } from "../../catalog/models/catalog.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";

interface AppRoomDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly accounts: AccountTables;
  readonly analytics: Analytics;
  readonly catalog: Catalog;
  readonly trail: Trail;
  readonly quotas: Quotas;
}

const MIN_ORGS = 5;

/** Orgs behind a public figure: on a machine of one's own there is nobody to be hidden from. */
export const minOrgsOf = (config: Config): number =>
  config.settings.min_orgs ?? (isLocalOnly(config) ? 1 : MIN_ORGS);

export function openAppRoom(
  config: Config,
  { store, clock, accounts, analytics, catalog, trail, quotas }: AppRoomDeps,
) {
  const tables = new AppTables(store);
  const shown = new PublicApps({
    apps: tables,
    accounts,
    clock,
    figures: analytics.publicFigures,
    hasModel: (id) => catalog.current().models.has(id),
    minOrgs: minOrgsOf(config),
  });
  return {
    apps: {
      tables,
      operations: { ...appOperations({ apps: tables, accounts, clock, trail, quotas }), ...shown.operations },
      /** What is measured of a model, with the public apps that use it. */
      async modelStats(modelId: string) {
        const [stats, apps] = await Promise.all([analytics.modelStats(modelId), shown.usesOf(modelId)]);
        return stats && { ...stats, apps };
      },
    },
  };
}
