/** `weir check`: reads everything that a start would read, changes nothing, and reports what the start would do. */
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CatalogError, type CatalogSnapshot, loadCatalog } from "../catalog/catalog.ts";
import type { PriceVersions } from "../catalog/price-versions.ts";
import { unconfigured } from "../catalog/unconfigured.ts";
import { type Config, ConfigError, readConfig } from "../config.ts";
import { CURRENCIES } from "../currency.ts";
import type { Provider } from "../endpoint.ts";
import { ratesOf } from "../gateway/billing.ts";
import { supplierOf } from "../gateway/invoices.ts";
import { folderHolder } from "../process/folder-holder.ts";
import { listenFault } from "../process/listening.ts";

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
    say(`configuration  ${error.message}`);
    say("A start would be refused.");
    return 1;
  }
  const { host, port, dataDir, configDir, clickhouseUrl, simulatorUrl } = config;
  const weirYaml = join(configDir, "weir.yaml");
  const rows: [string, string][] = [
    ["configuration", `${configDir} (weir.yaml: ${existsSync(weirYaml) ? "read" : "absent, so defaults"})`],
    ["address", (await addressFault(host, port, fault)) ?? `http://${host}:${port}, which is free`],
    ["data", dataState(dataDir, fault)],
    [
      "analytics",
      clickhouseUrl === undefined
        ? "the embedded engine, in the data folder"
        : `the server at ${shown(clickhouseUrl)}`,
    ],
    ["mail", mailState(config)],
    ["supplier", supplierState(config, fault)],
    ["payments", paymentsState(config)],
    ["rates", ratesState(config, fault)],
    ["simulator", simulatorUrl === undefined ? "the embedded one" : shown(simulatorUrl)],
    ...(await catalogRows(config, env, fault)),
  ];
  for (const [name, text] of rows) say(`${name.padEnd(14)} ${text.replaceAll("\n", `\n${" ".repeat(15)}`)}`);
  say(faults.length === 0 ? "A start would succeed." : "A start would be refused.");
  return faults.length === 0 ? 0 : 1;
}

type Fault = (text: string) => string;

/** Who sells, as invoices say. */
function supplierState(config: Config, fault: Fault): string {
  try {
    const supplier = supplierOf(config);
    if (supplier === undefined) return "no supplier.yaml, so nothing can be sold";
    return `${supplier.legal_name}, ${supplier.gstin || supplier.country}`;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return fault(error.message);
  }
}

const paymentsState = ({ payments: { gateways } }: Config): string =>
  CURRENCIES.map((currency) => `${currency} by ${gateways[currency] ?? "nobody"}`).join(", ");

/** Where the rate of exchange comes from. */
function ratesState(config: Config, fault: Fault): string {
  try {
    const { listed, always } = ratesOf(config);
    const newest = listed.at(-1)?.day;
    const read = config.fxUrl === undefined ? [] : ["read from FX_URL each day"];
    const dated = newest === undefined ? [] : [`listed up to ${newest}`];
    const given = always === "" ? [] : [`${always} on any day, which is for trying out`];
    return [...read, ...dated, ...given].join(", ") || "none, so an Indian supplier sells nothing";
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return fault(error.message);
  }
}

/** Where mails go, without a password. */
function mailState({ smtp, mailFrom, dataDir, publicUrl }: Config): string {
  if (smtp === undefined) return `no SMTP_URL, so mails are written to ${join(dataDir, "mail")}`;
  const { host, port, isTls, user } = smtp;
  const server = `${isTls ? "smtps" : "smtp"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const text = `${server}${user === "" ? "" : ", with a password"}, from ${mailFrom.address}`;
  return publicUrl === undefined ? `${text}\nset PUBLIC_URL: links in mails lead to this machine` : text;
}

async function addressFault(host: string, port: number, fault: Fault): Promise<string | undefined> {
  const text = await listenFault(host, port);
  return text === undefined ? undefined : fault(text);
}

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

/** The URL without credentials. */
function shown(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

async function catalogRows(
  config: Config,
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
  ];
}

/**
 * Whether the provider can be called, and which variables supply its keys: names, never values.
 * @param missing variables that the provider needs and that are not set; undefined where none is missing.
 */
function providerState(
  { isSwitchedOff, credentialEnv, keys }: Provider,
  missing: readonly string[] | undefined,
  env: NodeJS.ProcessEnv,
): string {
  if (isSwitchedOff === true) return "switched off in providers.yaml";
  if (missing !== undefined) return `not in use, set ${missing.join(" and ")}`;
  if (keys.every(({ credential }) => credential === undefined)) return "needs no credential";
  const set = Object.keys(env).filter(
    (name) => (env[name] ?? "").trim() !== "" && credentialEnv.some((base) => isOfPool(name, base)),
  );
  return `has its credential${set.length > 0 ? ` by ${set.sort().join(", ")}` : ""}`;
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
