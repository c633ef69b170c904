/**
 * The variables of the environment that the gateway reads. Errors name the variable and never repeat its value, which may be a secret.
 */
import { createSecretKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { mailboxOf, smtpServerOf } from "../../account/mail/settings.ts";
import { telemetryVariables } from "../../analytics/telemetry/settings.ts";
import { readProxyAddress } from "../../base/network/proxy-address.ts";
import { paymentVariables } from "../../billing/payments/settings.ts";
import { redisAddress } from "../../cluster/cells/redis/address.ts";
import { metricsVariables } from "../../edge/metrics-settings.ts";

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

const proxy = setting(readProxyAddress).optional();
/** An address of HTTP; the error shows one. */
const httpUrl = (example: string) =>
  z.url({ protocol: /^https?$/, error: `must be an http or https URL, such as ${example}` });
const noProxy = z.string().max(65_536).optional();

/** @throws Error with what is wrong */
function checkedRedisUrl(text: string): string {
  redisAddress(text);
  return text;
}

/** 32 bytes, such as from `openssl rand -base64 32`. @throws Error with what is wrong */
function secretsKey(text: string): KeyObject {
  if (/^[0-9a-f]{64}$/i.test(text)) return createSecretKey(Buffer.from(text, "hex"));
  if (/^[\w+/-]{43}=?$/.test(text)) return createSecretKey(Buffer.from(text, "base64"));
  throw new Error("must be 32 bytes in base64 or hex");
}

/** `CELL` where it is not set. */
export const DEFAULT_CELL = "local";

/** The environment as the gateway reads it: one field a variable. */
export const environment = z.object({
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8787),
  DATA_DIR: z.string().min(1).default("./data"),
  CONFIG_DIR: z.string().min(1).default("./config"),
  CLICKHOUSE_URL: z.url("must be a URL, such as http://clickhouse.example:8123").optional(),
  /** Name of the cluster in the servers' `remote_servers`. */
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .optional(),
  SIMULATOR_URL: z.url("must be a URL, such as http://127.0.0.1:9999").optional(),
  PUBLIC_URL: httpUrl("https://gateway.example.com").optional(),
  OIDC_ISSUER: httpUrl("https://login.example.com").optional(),
  OIDC_CLIENT_ID: z.string().max(500).optional(),
  OIDC_CLIENT_SECRET: z.string().max(2000).optional(),
  SMTP_URL: setting(smtpServerOf).optional(),
  MAIL_FROM: setting(mailboxOf).prefault("Weir <weir@localhost>"),
  ...paymentVariables,
  ...metricsVariables,
  ...telemetryVariables,
  /** For calls to providers. The names in lower case are as common, and win. */
  HTTP_PROXY: proxy,
  http_proxy: proxy,
  HTTPS_PROXY: proxy,
  https_proxy: proxy,
  ALL_PROXY: proxy,
  all_proxy: proxy,
  NO_PROXY: noProxy,
  no_proxy: noProxy,
  /** Where the day's rate of exchange is read. */
  FX_URL: httpUrl("https://rates.example.com/usd").optional(),
  /** How long the process may make calls of its own before it listens; 0: none. */
  WARM_UP_MS: z.coerce.number().int().min(0).max(60_000).default(1000),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  WEIR_SECRETS_KEY: setting(secretsKey).optional(),
  CELL: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .default(DEFAULT_CELL),
  CELLS: z.coerce.number().int().min(1).max(64).default(1),
  /** Makes the gateway a cell of an installation. Undefined, with several cells: they start a server of their own. */
  REDIS_URL: z.string().max(2000).pipe(setting(checkedRedisUrl)).optional(),
  REDIS_REPLICAS: z.coerce.number().int().min(0).max(16).default(0),
});

export type Environment = z.output<typeof environment>;

/** Names of all variables that are read. */
export const VARIABLES: readonly string[] = Object.keys(environment.shape);
