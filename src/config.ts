/**
 * The service's configuration: environment and `weir.yaml` of the config folder, read once, frozen. Every problem names
 * the variable, or file and line. Providers and models belong to the catalog (`src/catalog`).
 */
import type { KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { analyticsField, checkForEngine } from "./analytics-settings.ts";
import { cellsField } from "./cells-settings.ts";
import { cidrListField } from "./cidr-list.ts";
import { problemText, readDocument } from "./document/document.ts";
import { dpaField } from "./dpa-settings.ts";
import { readText } from "./file-errors.ts";
import { keptFields } from "./kept-settings.ts";
import { LOOPBACK_HOST, type Mailbox, mailboxOf, type SmtpServer, smtpServerOf } from "./mail-settings.ts";
import { type MetricsSettings, metricsSettingsOf, metricsVariables } from "./metrics-settings.ts";
import {
  type PaymentSettings,
  paymentSettingsOf,
  paymentsField,
  paymentVariables,
} from "./payment-settings.ts";
import { isFree, LOCAL_PLAN, type Plan, planFaults, plansFile } from "./plan.ts";
import { quotasField } from "./quota.ts";
import { redisAddress } from "./redis-address.ts";
import { requestLimitsField } from "./request-limit-settings.ts";
import { secretsKeyField } from "./secrets-key.ts";
import { type TelemetrySettings, telemetrySettingsOf, telemetryVariables } from "./telemetry-settings.ts";

const count = z.int().nonnegative();
const positive = z.int().positive();

const fileSchema = z.strictObject({
  limits: z
    .strictObject({
      max_body_bytes: positive.default(32 * 1024 * 1024),
      /** Limit for all bodies in flight together: arriving, waiting to be read, kept until their request is over. */
      max_bodies_bytes: positive.default(512 * 1024 * 1024),
      /** A body that arrives more slowly is refused with 408. */
      min_upload_bytes_per_s: positive.default(1024),
      /** Default for a request without `max_tokens`, if the endpoint allows as much. */
      default_max_tokens: positive.default(4096),
      /** `hold: fit` limits no answer to fewer tokens, above its thinking budget. */
      min_fit_tokens: positive.default(1024),
      /** Concurrent calls that wait for what other calls hold (`hold_wait_ms`), and those of one org. */
      max_hold_waits: count.default(1000),
      max_hold_waits_of_org: count.default(100),
      /** A longer upstream event or line ends the stream. */
      max_event_bytes: positive.default(8 * 1024 * 1024),
      max_reply_bytes: positive.default(64 * 1024 * 1024),
      /** Bytes stored of each request and each answer in the record. */
      max_payload_bytes: count.default(64 * 1024),
      ...keptFields,
      /** Concurrent calls read to their end after the client disconnected (`on_disconnect: drain`). */
      max_drains: count.default(256),
      /** Concurrent copies of calls to shadow endpoints of routing policies. */
      max_shadows: count.default(64),
      /** Most bytes of an org's export; a larger one fails. */
      max_export_bytes: positive.default(8 * 1024 * 1024 * 1024),
      /** False: orgs pay for their copies, whatever their policies say. */
      platform_shadows: z.boolean().default(true),
    })
    .prefault({}),
  /** Limits of all routes but model calls, which have those of keys and plans. */
  request_limits: requestLimitsField,
  quotas: quotasField,
  timeouts: z
    .strictObject({
      connect_ms: positive.default(5_000),
      /** Interval between checks of an upload's pace. */
      upload_ms: positive.default(30_000),
      /** From the request to the first content of an attempt. */
      first_byte_ms: positive.default(300_000),
      /** Silence after the first content. */
      stall_ms: positive.default(30_000),
      /** All attempts of a call together. */
      total_ms: positive.default(900_000),
      /** Silence towards the client before a comment line is sent; 0 switches them off. */
      keep_alive_ms: count.default(10_000),
      drain_ms: positive.default(120_000),
      /** Maximum wait of an answer for the commit of its charge while the disk does not accept writes. */
      commit_ms: positive.default(30_000),
      shutdown_ms: positive.default(30_000),
    })
    .prefault({}),
  cells: cellsField,
  /** Fee for a call answered with an org's own provider key: one line of cost for both parts. */
  byok: z
    .strictObject({
      /** Share of what the call would have cost, in basis points. */
      fee_bps: count.max(10_000).default(500),
      /** Added to it for every call. */
      fee_micro_per_request: count.max(1_000_000_000).default(0),
    })
    .prefault({}),
  /** Addresses and CIDRs of proxies in front, whose `X-Forwarded-For` is believed. */
  trusted_proxies: cidrListField.default([]),
  /** E-mail addresses of operators, as the identity provider vouches for them. */
  operators: z.array(z.string().min(3).max(254)).max(100).default([]),
  /** Orgs that one person may own. */
  max_orgs_per_person: positive.default(5),
  /** Orgs behind a figure of the public pages; nothing of fewer is shown. Absent: 5, and 1 where nobody else reaches us. */
  min_orgs: positive.max(10_000).optional(),
  oidc: z
    .strictObject({
      /** The provider's addresses are trusted although it does not say that it verified them. */
      trust_email: z.boolean().default(false),
    })
    .prefault({}),
  /** The operator's side of the data processing agreement (`GET /v1/documents/dpa`); what is empty is left blank there. */
  dpa: dpaField,
  webhooks: z
    .strictObject({
      /** Ranges that all orgs' webhooks may reach beside public addresses. Absent: none; the first org reaches loopback where nobody else reaches us. */
      allow: z
        .array(z.union([z.cidrv4(), z.cidrv6()]))
        .max(256)
        .optional(),
    })
    .prefault({}),
  analytics: analyticsField,
  /** The payment gateway of each currency. */
  payments: paymentsField,
  grant_usd: z.number().nonnegative().default(25),
  default_plan: z.string().default("local"),
  /** Where they stood before `plans.yaml`. */
  plans: z.unknown().optional(),
});

type ServiceSettings = Omit<z.output<typeof fileSchema>, "plans">;

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

/** Read by a function that throws an Error with what is wrong. Errors never repeat the value, which may hold a password. */
const setting = <T>(read: (text: string) => T) =>
  z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: (error as Error).message, input: "" });
      return z.NEVER;
    }
  });

/** @throws Error with what is wrong */
function checkedRedisUrl(text: string): string {
  redisAddress(text);
  return text;
}

/** `CELL` where it is not set. */
export const DEFAULT_CELL = "local";

const environment = z.object({
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8787),
  DATA_DIR: z.string().min(1).default("./data"),
  CONFIG_DIR: z.string().min(1).default("./config"),
  CLICKHOUSE_URL: z.url().optional(),
  /** Name of the cluster in the servers' `remote_servers`. */
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .optional(),
  SIMULATOR_URL: z.url().optional(),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  OIDC_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  OIDC_CLIENT_ID: z.string().max(500).optional(),
  OIDC_CLIENT_SECRET: z.string().max(2000).optional(),
  SMTP_URL: setting(smtpServerOf).optional(),
  MAIL_FROM: setting(mailboxOf).prefault("Weir <weir@localhost>"),
  ...paymentVariables,
  ...metricsVariables,
  ...telemetryVariables,
  /** Where the day's rate of exchange is read. */
  FX_URL: z.url({ protocol: /^https?$/ }).optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  WEIR_SECRETS_KEY: secretsKeyField.optional(),
  CELL: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .default(DEFAULT_CELL),
  CELLS: z.coerce.number().int().min(1).max(64).default(1),
  /** Makes the gateway a cell of an installation. Undefined, with several cells: they start a server of their own. */
  REDIS_URL: z.string().max(2000).pipe(setting(checkedRedisUrl)).optional(),
  REDIS_REPLICAS: z.coerce.number().int().min(0).max(16).default(0),
});

type Environment = z.output<typeof environment>;

/** Names of all variables that are read. */
export const VARIABLES: readonly string[] = Object.keys(environment.shape);

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
    secretsKey: parsed.data.WEIR_SECRETS_KEY,
    publicUrl,
    oidc: oidcOf(parsed.data),
    smtp: parsed.data.SMTP_URL,
    mailFrom: parsed.data.MAIL_FROM,
    payments: paymentsOf(parsed.data, read.settings, isLocalOnly({ host: HOST, publicUrl })),
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

/** @throws ConfigError where a gateway lacks its secret, or simulated payments could be made from outside */
function paymentsOf(env: Environment, { payments }: ServiceSettings, isLocal: boolean): PaymentSettings {
  return orConfigError(() => paymentSettingsOf(payments, env, isLocal));
}

/** @throws ConfigError with the message of the Error that is thrown */
function orConfigError<T>(read: () => T): T {
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
  const listed = attempt(() => readPlans(configDir));
  const file = join(configDir, "weir.yaml");
  const read = readDocument(existsSync(file) ? readText(file) : "", file, fileSchema);
  // What is wrong in both files is told at once.
  const faults = [...(read.ok ? [] : read.problems.map(problemText)), ...(listed.ok ? [] : [listed.message])];
  if (!read.ok || !listed.ok) throw new ConfigError(faults.join("\n"));
  const plans = listed.value;
  const { plans: oldPlans, ...settings } = read.value;
  const refuse = (path: readonly string[], message: string): never => {
    const { line, column } = read.at(path);
    throw new ConfigError(`${file}:${line}:${column} /${path.join("/")}: ${message}`);
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

function attempt<T>(act: () => T): { ok: true; value: T } | { ok: false; message: string } {
  try {
    return { ok: true, value: act() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ok: false, message: error.message };
  }
}

/** @throws ConfigError */
function readPlans(configDir: string): readonly Plan[] {
  const file = join(configDir, "plans.yaml");
  if (!existsSync(file)) return [LOCAL_PLAN];
  const read = readDocument(readText(file), file, plansFile);
  if (!read.ok) throw new ConfigError(read.problems.map(problemText).join("\n"));
  const faults = planFaults(read.value.plans).map(({ path, message }) => {
    const { line, column } = read.at(path);
    return `${file}:${line}:${column} /${path.join("/")}: ${message}`;
  });
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return read.value.plans;
}
