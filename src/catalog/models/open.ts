/** The catalog of this gateway, and what its log says of files that are read. */
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import { problemText } from "../../base/document/document.ts";
import type { Store } from "../../store/store.ts";
import {
  type Catalog,
  type CatalogSnapshot,
  type Followed,
  openCatalog,
  type ReloadResult,
} from "./catalog.ts";
import { type Changelog, storedChangelog } from "./changelog.ts";
import { type PriceVersions, storedPriceVersions } from "./price-versions.ts";
import { storedReadings } from "./readings.ts";
import { unconfigured } from "./unconfigured.ts";

export interface CatalogPorts {
  /** Folder of `providers.yaml` and `models/`. */
  readonly configDir: string;
  readonly log: Logger;
  readonly store: Store;
  readonly clock: Clock;
  readonly simulatorUrl: string;
  /** One of several, which tell each other that they have read their files. */
  readonly isCell: boolean;
}

export interface OpenCatalog {
  readonly catalog: Catalog;
  readonly changelog: Changelog;
  readonly priceHistory: PriceVersions["history"];
}

/** @throws CatalogError when the files have problems */
export async function openCatalogRoom(ports: CatalogPorts): Promise<OpenCatalog> {
  const { log, store, clock } = ports;
  const priceVersions = storedPriceVersions(store, clock);
  const changelog = storedChangelog(store, clock, priceVersions);
  const catalog: Catalog = await openCatalog({
    ...ports,
    changelog,
    env: process.env,
    priceVersions,
    onFailure: (err) => log.error({ err }, "dated prices are due and not in force; it is tried again"),
    ...(ports.isCell && { readings: storedReadings(store) }),
    onFollowing: (followed) =>
      void followed.then(
        (how) => tellFollowed(how, catalog, log),
        (err: unknown) => log.error({ err }, "another cell read its catalog; this one could not"),
      ),
  });
  return { catalog, changelog, priceHistory: priceVersions.history };
}

export async function reloadCatalog(catalog: Catalog, log: Logger): Promise<void> {
  const result = await catalog.reload();
  if (result.ok) tellRead(catalog, log);
  else tellProblems(result, log);
}

function tellFollowed({ result, hasChanged, isSame }: Followed, catalog: Catalog, log: Logger): void {
  if (hasChanged) tellRead(catalog, log);
  if (!result.ok) tellProblems(result, log);
  else if (!isSame) log.warn("another cell has other files of the catalog than this one");
}

function tellRead(catalog: Catalog, log: Logger): void {
  log.info("the catalog was read again");
  tellUnconfigured(catalog.current(), log);
}

function tellProblems({ problems }: Extract<ReloadResult, { ok: false }>, log: Logger): void {
  for (const p of problems) log.error(`${problemText(p)}; the last good catalog stays in force`);
}

/** Logs which variables are missing. Clients only learn that a provider is not configured. */
export function tellUnconfigured(snapshot: CatalogSnapshot, log: Logger): void {
  const lacking = unconfigured(snapshot).map(
    ({ provider, missing }) => `${provider} (${missing.join(", ")})`,
  );
  if (lacking.length > 0) log.info(`not configured, so they take no calls: ${lacking.join(", ")}`);
}
