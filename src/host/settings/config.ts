/**
 * The service's configuration: environment and `weir.yaml` of the config folder, read once, frozen. Every problem names
 * the variable, or file and line. Providers and models belong to the catalog (`src/catalog`).
 */
import type { KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Mailbox, SmtpServer } from "../../account/mail/settings.ts";
import { checkForEngine } from "../../analytics/settings.ts";
import { type TelemetrySettings, telemetrySettingsOf } from "../../analytics/telemetry/settings.ts";
import { pointerTo, problemText, readDocument } from "../../base/document/document.ts";
import { readText } from "../../base/file-errors.ts";
import { LOOPBACK_HOST } from "../../base/network/loopback-host.ts";
import { isFree, LOCAL_PLAN, type Plan, planFaults, plansFile } from "../../base/plan.ts";
import { type PaymentSettings, paymentSettingsOf } from "../../billing/payments/settings.ts";
import { type MetricsSettings, metricsSettingsOf } from "../../edge/metrics-settings.ts";
import { type ProxySettings, proxySettingsOf } from "../../inference/upstream/proxy/settings.ts";
import { type Environment, environment } from "./environment.ts";
import { fileSchema, type ServiceSettings } from "./weir-file.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly configDir: string;
  /** Undefined: the embedded engine. */
  readonly clickhouseUrl: string | undefined;
  readonly clickhouseCluster: string | undefined;
  /** Undefined: the embedded simulator. */
  readonly simulatorUrl: string | undefined;
  readonly logLevel: string;
  /** Milliseconds in which the process may make calls of its own before it listens; 0: none. */
  readonly warmUpMs: number;
  /** Encrypts orgs' credentials; undefined: use the key in the data folder. It prints and serialises as nothing. */
  readonly secretsKey: KeyObject | undefined;
  /** Where browsers reach the gateway, without a slash at the end; undefined: on this machine only. */
  readonly publicUrl: string | undefined;
  /** Undefined: the built-in identity provider, on loopback only. */
  readonly oidc:
    | { readonly issuer: string; readonly clientId: string; readonly clientSecret: string }
    | undefined;
  /** Undefined: mails are written to the data folder. */
  readonly smtp: SmtpServer | undefined;
  /** Sender of mails. */
  readonly mailFrom: Mailbox;
  readonly payments: PaymentSettings;
  /** By which providers are called. */
  readonly proxies: ProxySettings;
  /** Undefined: rates of exchange are those of `fx.yaml`. */
  readonly fxUrl: string | undefined;
  readonly metrics: MetricsSettings;
  /** Undefined: no OpenTelemetry. */
  readonly telemetry: TelemetrySettings | undefined;
  /** Name of this process in records; cells share an installation. */
  readonly cell: string;
  /** Gateway processes on this machine and port; 1: this process alone. */
  readonly cells: number;
  /** Undefined: no other gateway shares its rows, unless they start a server of their own. It may hold a password. */
  readonly redisUrl: string | undefined;
  /** Replicas of that Redis that must have a write before it counts. */
  readonly redisReplicas: number;
  readonly settings: ServiceSettings;
  /** Plans of `plans.yaml`. The default plan is among them, and free. */
  readonly plans: readonly Plan[];
}

export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** @throws ConfigError with one line per problem. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // Empty variables count as unset: shells and compose files set them so.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = environment.safeParse(set);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`).join("\n"));
  }
  const { HOST, PORT, DATA_DIR, CONFIG_DIR, CLICKHOUSE_URL, SIMULATOR_URL, LOG_LEVEL, CELL } = parsed.data;
  const configDir = resolve(CONFIG_DIR);
  const dataDir = resolve(DATA_DIR);
  if (CLICKHOUSE_URL === undefined) orConfigError(() => checkForEngine(dataDir));
  if (CLICKHOUSE_URL === undefined && parsed.data.CLICKHOUSE_CLUSTER !== undefined) {
    throw new ConfigError(
      "CLICKHOUSE_CLUSTER: names a cluster of servers; set CLICKHOUSE_URL to one of them",
    );
  }
  const publicUrl = publicUrlOf(parsed.data.PUBLIC_URL);
  const read = readSettings(configDir);
  return Object.freeze({
    host: HOST,
    port: PORT,
    dataDir,
    configDir,
    clickhouseUrl: CLICKHOUSE_URL,
    clickhouseCluster: parsed.data.CLICKHOUSE_CLUSTER,
    simulatorUrl: SIMULATOR_URL?.replace(/\/$/, ""),
    logLevel: LOG_LEVEL,
    warmUpMs: parsed.data.WARM_UP_MS,
    secretsKey: parsed.data.WEIR_SECRETS_KEY,
    publicUrl,
    oidc: oidcOf(parsed.data),
    smtp: parsed.data.SMTP_URL,
    mailFrom: parsed.data.MAIL_FROM,
    payments: orConfigError(() =>
      paymentSettingsOf(read.settings.payments, parsed.data, isLocalOnly({ host: HOST, publicUrl })),
    ),
    proxies: proxySettingsOf(parsed.data),
    fxUrl: parsed.data.FX_URL,
    metrics: orConfigError(() => metricsSettingsOf(parsed.data, PORT)),
    telemetry: orConfigError(() => telemetrySettingsOf(parsed.data)),
    cell: CELL,
    cells: parsed.data.CELLS,
    redisUrl: parsed.data.REDIS_URL,
    redisReplicas: redisReplicasOf(parsed.data),
    ...read,
  });
}

/** @throws ConfigError where no server is named: the one that cells start themselves has no replicas */
function redisReplicasOf({ REDIS_URL, REDIS_REPLICAS }: Environment): number {
  if (REDIS_REPLICAS > 0 && REDIS_URL === undefined)
    throw new ConfigError("REDIS_REPLICAS: is for the server that REDIS_URL names");
  return REDIS_REPLICAS;
}

/** @throws ConfigError where it is more than an origin: cookies and redirects are for whole hosts */
function publicUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { origin, pathname, search, hash } = new URL(text);
  if (pathname !== "/" || search !== "" || hash !== "") {
    throw new ConfigError("PUBLIC_URL: use an origin, such as https://gateway.example.com, without a path");
  }
  return origin;
}

/** @throws ConfigError where a variable is missing, or the provider could be overheard */
function oidcOf({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET: clientSecret,
}: Environment) {
  if (issuer === undefined) return undefined;
  const { protocol, hostname } = new URL(issuer);
  if (protocol === "http:" && !LOOPBACK_HOST.test(hostname)) {
    throw new ConfigError("OIDC_ISSUER: use https; http is for providers on this machine only");
  }
  if (clientId === undefined) throw new ConfigError("OIDC_CLIENT_ID: is needed with OIDC_ISSUER");
  if (clientSecret === undefined) throw new ConfigError("OIDC_CLIENT_SECRET: is needed with OIDC_ISSUER");
  return { issuer, clientId, clientSecret };
}

/** @throws ConfigError with the message of the Error that is thrown */
export function orConfigError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** Whether only this machine reaches the gateway: nothing listens elsewhere, and no proxy is announced. */
export const isLocalOnly = ({ host, publicUrl }: Pick<Config, "host" | "publicUrl">): boolean =>
  LOOPBACK_HOST.test(host === "::1" ? "[::1]" : host) &&
  (publicUrl === undefined || LOOPBACK_HOST.test(new URL(publicUrl).hostname));

/** `weir.yaml` and `plans.yaml`; every key of the first has a default, and both files may be absent. */
function readSettings(configDir: string): Pick<Config, "settings" | "plans"> {
  if (!existsSync(configDir)) throw new ConfigError(`CONFIG_DIR: there is no folder ${configDir}`);
  const listed = readPlans(configDir);
  const file = join(configDir, "weir.yaml");
  const read = readDocument(existsSync(file) ? readText(file) : "", file, fileSchema);
  // What is wrong in both files is told at once.
  const faults = [...(read.ok ? [] : read.problems.map(problemText)), ...(listed.ok ? [] : listed.faults)];
  if (!read.ok || !listed.ok) throw new ConfigError(faults.join("\n"));
  const plans = listed.value;
  const { plans: oldPlans, ...settings } = read.value;
  const refuse = (path: readonly string[], message: string): never => {
    throw new ConfigError(problemText({ file, ...read.at(path), pointer: pointerTo(path), message }));
  };
  if (oldPlans !== undefined) {
    refuse(
      ["plans"],
      `plans stand in ${join(configDir, "plans.yaml")} now: move the list there, with rpm, tpm, concurrency, keys, projects and auto_approve of each under "limits"`,
    );
  }
  const { default_plan: defaultPlan, limits } = settings;
  // One org may use half of it, and one body counts twice, compressed and decompressed.
  const most = 4 * limits.max_body_bytes;
  if (limits.max_bodies_bytes < most)
    refuse(["limits", "max_bodies_bytes"], `at least ${most}, four times max_body_bytes`);
  const free = plans.find(({ id }) => id === defaultPlan);
  if (free === undefined) refuse(["default_plan"], `no plan of plans.yaml has the id "${defaultPlan}"`);
  else if (!isFree(free))
    refuse(["default_plan"], `the plan "${defaultPlan}" has a price: new orgs get a free one`);
  const priced = plans.find((plan) => !isFree(plan));
  if (priced !== undefined && !existsSync(join(configDir, "supplier.yaml"))) {
    throw new ConfigError(
      `${join(configDir, "plans.yaml")}: the plan "${priced.id}" has a price, and there is no supplier.yaml, which says who takes it`,
    );
  }
  return { settings: Object.freeze(settings), plans: Object.freeze(plans) };
}

type ReadPlans = { ok: true; value: readonly Plan[] } | { ok: false; faults: readonly string[] };

function readPlans(configDir: string): ReadPlans {
  const file = join(configDir, "plans.yaml");
  if (!existsSync(file)) return { ok: true, value: [LOCAL_PLAN] };
  const read = readDocument(readText(file), file, plansFile);
  if (!read.ok) return { ok: false, faults: read.problems.map(problemText) };
  const { plans } = read.value;
  const faults = planFaults(plans).map(({ path, message }) =>
    problemText({ file, ...read.at(path), pointer: pointerTo(path), message }),
  );
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value: plans };
}

const MIN_ORGS = 5;

/** Orgs behind a public figure: on a machine of one's own there is nobody to be hidden from. */
export const minOrgsOf = (config: Config): number =>
  config.settings.min_orgs ?? (isLocalOnly(config) ? 1 : MIN_ORGS);
