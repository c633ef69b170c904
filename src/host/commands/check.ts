/** `weir check`: reads everything that a start would read, changes nothing, and reports what the start would do. */
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isoTime } from "../../base/clock.ts";
import type { Provider } from "../../base/endpoint.ts";
import { folderHolder } from "../../base/process/folder-holder.ts";
import { listenFault } from "../../base/process/listen-fault.ts";
import { CatalogError, type CatalogSnapshot, loadCatalog } from "../../catalog/models/catalog.ts";
import type { PriceVersions } from "../../catalog/models/price-versions.ts";
import { priceChange } from "../../catalog/models/price-words.ts";
import { unconfigured } from "../../catalog/models/unconfigured.ts";
import { supplierOf } from "../settings/billing-files.ts";
import { type Config, ConfigError, readConfig } from "../settings/config.ts";
import {
  analyticsState,
  type Fault,
  identityState,
  mailState,
  mediaState,
  metricsState,
  paymentState,
  plansState,
  proxyState,
  ratesState,
  shown,
  shownProxy,
  told,
  webhookState,
} from "./check-settings.ts";
import { sharedState } from "./check-state.ts";

/** Says a line per fact. Resolves with 0 where a start would succeed, as far as a check can tell, else with 1. */
export async function check(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<number> {
  const faults: string[] = [];
  const fault = (text: string) => {
    faults.push(text);
    return text;
  };
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    await tellFiles(env, error, say);
    return 1;
  }
  const { host, port, dataDir, configDir, simulatorUrl } = config;
  const weirYaml = join(configDir, "weir.yaml");
  const taken = await listenFault(host, port);
  const rows: [string, string][] = [
    ["configuration", `${configDir} (weir.yaml: ${existsSync(weirYaml) ? "read" : "absent, so defaults"})`],
    ["address", taken === undefined ? `http://${host}:${port}, which is free` : fault(taken)],
    ["data", dataState(dataDir, fault)],
    ["plans", plansState(config)],
    ["analytics", await analyticsState(config)],
    ["state", sharedState(config, env.PATH, fault)],
    ["mail", mailState(config)],
    ["payments", paymentState(config)],
    ["identity", identityState(config)],
    ["metrics", metricsState(config)],
    ["proxies", proxyState(config)],
    ["webhooks", told(fault, () => webhookState(config))],
    ["media", told(fault, () => mediaState(config))],
    ["supplier", supplierState(config, fault)],
    ["exchange", told(fault, () => ratesState(config))],
    ["simulator", simulatorUrl === undefined ? "the embedded one" : shown(simulatorUrl)],
    ...(await catalogRows(config, env, fault)),
  ];
  sayRows(rows, say);
  say(faults.length === 0 ? "A start would succeed." : "A start would be refused.");
  return faults.length === 0 ? 0 : 1;
}

type Rows = readonly (readonly [string, string])[];

function sayRows(rows: Rows, say: (line: string) => void): void {
  for (const [name, text] of rows) say(`${name.padEnd(14)} ${text.replaceAll("\n", `\n${" ".repeat(15)}`)}`);
}

/** Settings are refused: what can be read without them is checked nevertheless. */
async function tellFiles(
  env: NodeJS.ProcessEnv,
  error: ConfigError,
  say: (line: string) => void,
): Promise<void> {
  const configDir = resolve(env.CONFIG_DIR || "./config");
  const rows: [string, string][] = [["configuration", error.message]];
  if (existsSync(configDir)) {
    const files = { configDir, simulatorUrl: undefined };
    const same = (text: string) => text;
    rows.push(
      ["supplier", supplierState(files, same)],
      ["exchange", told(same, () => ratesState(files))],
      ...(await catalogRows(files, env, same)),
    );
  }
  sayRows(rows, say);
  say("A start would be refused.");
}

/** Who sells, as invoices say. */
const supplierState = (config: Pick<Config, "configDir">, fault: Fault): string =>
  told(fault, () => {
    const supplier = supplierOf(config);
    if (supplier === undefined) return "no supplier.yaml, so nothing can be sold";
    return `${supplier.legal_name}, ${supplier.gstin || supplier.country}`;
  });

/** The state of the data folder, as text. */
function dataState(dataDir: string, fault: Fault): string {
  if (!existsSync(dataDir)) {
    const parent = nearestFolder(dataDir);
    return isWritable(parent)
      ? `${dataDir}, to be made`
      : fault(`${dataDir} cannot be made: ${parent} cannot be written`);
  }
  if (!statSync(dataDir).isDirectory()) return fault(`DATA_DIR=${dataDir} is no folder`);
  if (!isWritable(dataDir)) return fault(`${dataDir} cannot be written by this user`);
  const names = readdirSync(dataDir);
  if (!names.includes("weir.lmdb"))
    return `${dataDir}, empty: a first start makes an organisation and its keys`;
  const holder = folderHolder(dataDir);
  if (holder !== undefined)
    return fault(`${dataDir} is in use by process ${holder}; one process a data folder`);
  return `${dataDir}, of an earlier start; weir check --data reads all of it`;
}

function nearestFolder(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? parent : nearestFolder(parent);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK | constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

async function catalogRows(
  config: Pick<Config, "configDir" | "simulatorUrl">,
  env: NodeJS.ProcessEnv,
  fault: Fault,
): Promise<[string, string][]> {
  let catalog: CatalogSnapshot;
  try {
    catalog = await loadCatalog({
      configDir: config.configDir,
      env,
      // The embedded simulator gets its port when it starts.
      simulatorUrl: config.simulatorUrl ?? "http://127.0.0.1:1",
      priceVersions: UNSAVED,
    });
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return [["catalog", fault(error.message)]];
  }
  const models = [...catalog.models.values()];
  const reachable = models.filter(({ endpoints }) => endpoints.length > 0);
  const endpoints = reachable.reduce((sum, model) => sum + model.endpoints.length, 0);
  const missing = new Map(unconfigured(catalog).map(({ provider, missing }) => [provider, missing]));
  return [
    ["models", `${reachable.length} of ${models.length} can be reached, over ${endpoints} endpoints`],
    ...[...catalog.providers.values()].map((provider): [string, string] => [
      "provider",
      `${provider.id}: ${providerState(provider, missing.get(provider.id), env)}`,
    ]),
    ...scheduledRows(catalog),
  ];
}

/** Prices that change by their dates, the next first. */
function scheduledRows(catalog: CatalogSnapshot): [string, string][] {
  const changes = [...catalog.models.values()].flatMap((model) =>
    [...model.endpoints, ...catalog.unreachable(model.id)].flatMap(
      ({ id, prices, listPrices, markupBps }) => {
        const all = [{ endpointId: id, prices, listPrices, markupBps }, ...catalog.scheduledPrices(id)];
        return catalog.scheduledPrices(id).map((next, at) => {
          const words = priceChange(all[at] ?? next, next);
          return { fromMs: next.fromMs, text: `${isoTime(next.fromMs)} ${model.id}, ${id}: ${words}` };
        });
      },
    ),
  );
  return changes.sort((a, b) => a.fromMs - b.fromMs).map(({ text }) => ["price", text]);
}

/**
 * Whether the provider can be called, and which variables supply its keys: names, never values.
 * @param missing variables that the provider needs and that are not set; undefined where none is missing.
 */
function providerState(
  { isSwitchedOff, credentialEnv, keys, proxy }: Provider,
  missing: readonly string[] | undefined,
  env: NodeJS.ProcessEnv,
): string {
  if (isSwitchedOff === true) return "switched off in providers.yaml";
  if (missing !== undefined) return `not in use, set ${missing.join(" and ")}`;
  const way =
    proxy === undefined ? "" : proxy === "direct" ? ", by no proxy" : `, by the proxy ${shownProxy(proxy)}`;
  if (keys.every(({ credential }) => credential === undefined)) return `needs no credential${way}`;
  const set = Object.keys(env).filter(
    (name) => (env[name] ?? "").trim() !== "" && credentialEnv.some((base) => isOfPool(name, base)),
  );
  return `has its credential${set.length > 0 ? ` by ${set.sort().join(", ")}` : ""}${way}`;
}

/** `OPENAI_API_KEY`, `OPENAI_API_KEY_2` … `_16`. */
const isOfPool = (name: string, base: string): boolean =>
  name === base || (name.startsWith(`${base}_`) && /^(?:[2-9]|1[0-6])$/.test(name.slice(base.length + 1)));

/** A check writes no price versions. */
const UNSAVED: PriceVersions = {
  assign: async (endpoints) =>
    new Map(endpoints.map(({ endpointId }) => [endpointId, { version: "pv_unsaved", changedMs: undefined }])),
  history: () => [],
};
