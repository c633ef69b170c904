/** What `weir check` says of settings: a text for each part of the gateway, without secrets. */
import { join } from "node:path";
import { analystsState } from "../../analytics/analysts/confinement-told.ts";
import type { ProxyAddress } from "../../base/network/proxy-address.ts";
import { metricsAddressOfCells } from "../../edge/metrics-settings.ts";
import { allowedRanges } from "../gateway/reach.ts";
import { ratesOf } from "../settings/billing-files.ts";
import { type Config, ConfigError, orConfigError } from "../settings/config.ts";
import { planWarnings } from "../settings/plan-warnings.ts";

/** Notes that a start would be refused, and returns the text. */
export type Fault = (text: string) => string;

/** The state, or why a start would be refused. */
export function told(fault: Fault, state: () => string): string {
  try {
    return state();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return fault(error.message);
  }
}

export const plansState = (config: Config): string => {
  const { plans, settings } = config;
  const ids = plans.map(({ id, demo }) => (demo === true ? `${id} (a demo's limits)` : id));
  const state = `${ids.join(", ")}; new organisations get ${settings.default_plan}`;
  return [state, ...planWarnings(config)].join("\n");
};

const PING_MS = 3000;

/** Whether a server answers now: a start does not wait for it, and calls work without it. */
export async function analyticsState({ clickhouseUrl, settings }: Config): Promise<string> {
  if (clickhouseUrl === undefined) {
    return `the embedded engine, in the data folder\n${await analystsState(settings.analytics.analysts)}`;
  }
  const text = `the server at ${shown(clickhouseUrl)}`;
  try {
    const answer = await fetch(new URL("/ping", shown(clickhouseUrl)), {
      signal: AbortSignal.timeout(PING_MS),
    });
    await answer.body?.cancel();
    return answer.ok
      ? `${text}, which answers`
      : `${text}, which answers ${answer.status}: calls work without it`;
  } catch {
    return `${text}, which does not answer now: calls work without it`;
  }
}

export function paymentState({ payments: { gateways } }: Config): string {
  const each = Object.entries(gateways).map(([currency, gateway]) => `${currency} by ${gateway ?? "nobody"}`);
  return each.join(", ");
}

/** @throws ConfigError */
export function metricsState({ metrics, cells, port }: Config): string {
  const own = cells > 1 ? orConfigError(() => metricsAddressOfCells(metrics, port)) : metrics.own;
  const where = own === undefined ? "/metrics" : `http://${own.host}:${own.port}/metrics`;
  const hasToken = metrics.tokenDigest !== undefined;
  const parts = [
    ...(cells > 1 ? ["for all cells"] : []),
    hasToken ? "with METRICS_TOKEN" : "without a token",
    ...(own === undefined && !hasToken ? ["for this machine alone"] : []),
  ];
  return `${where}, ${parts.join(", ")}`;
}

export const identityState = ({ oidc, publicUrl }: Config): string =>
  oidc === undefined
    ? "the built-in provider, for people on this machine"
    : `${shown(oidc.issuer)}${publicUrl === undefined ? "\nset PUBLIC_URL: sign-ins lead back to this machine" : ""}`;

/** How providers are called that name no proxy of their own. */
export function proxyState({ proxies: { http, https, meaningless } }: Config): string {
  const each = Object.entries({ "http addresses": http, "https addresses": https }).flatMap(
    ([what, proxy]) => (proxy === undefined ? [] : [`${what} by ${shownProxy(proxy)}`]),
  );
  if (each.length === 0) return "none in the environment: providers that name none are called directly";
  const [only, ...more] = meaningless;
  if (only === undefined) return each.join(", ");
  const which = more.length === 0 ? `its entry ${only} means` : `its entries ${meaningless.join(", ")} mean`;
  return `${each.join(", ")}\nNO_PROXY: ${which} nothing; write names, addresses or ranges, as vllm.internal, 10.0.0.0/8`;
}

/** The proxy without its credentials. */
export const shownProxy = ({ shown, credentials }: ProxyAddress): string =>
  `${shown}${credentials === undefined ? "" : " with a password"}`;

/** @throws ConfigError */
export function webhookState(config: Config): string {
  const { forAll, forFirst } = allowedRanges(config);
  const ranges = forAll.length === 0 ? "" : ` and ${forAll.length} private ranges`;
  const loopback = forFirst.length === 0 ? "" : " and this machine (those of the first organisation alone)";
  return `may reach public addresses${ranges}${loopback}`;
}

/** @throws ConfigError */
export function mediaState(config: Config): string {
  const { forDownloads } = allowedRanges(config);
  if (!config.settings.media_fetch.enabled) return "not fetched from addresses in calls";
  const ranges = forDownloads.length === 0 ? "" : ` and ${forDownloads.length} private ranges`;
  return `fetched from public addresses${ranges}`;
}

/** @throws ConfigError */
export function ratesState(config: Pick<Config, "configDir"> & Partial<Pick<Config, "fxUrl">>): string {
  const { listed, always } = ratesOf(config);
  const newest = listed.at(-1)?.day;
  const parts = [
    ...(newest === undefined ? [] : [`${listed.length} rates of fx.yaml, the newest of ${newest}`]),
    ...(always === "" ? [] : [`${always} INR on any day, for trying out`]),
    ...(config.fxUrl === undefined ? [] : [`read daily from ${shown(config.fxUrl)}`]),
  ];
  return parts.length === 0
    ? "no rates, so nothing is quoted in INR, and an Indian supplier sells nothing"
    : parts.join("; ");
}

/** Where mails go, without a password. */
export function mailState({ smtp, mailFrom, dataDir, publicUrl }: Config): string {
  if (smtp === undefined) return `no SMTP_URL, so mails are written to ${join(dataDir, "mail")}`;
  const { host, port, isTls, user } = smtp;
  const server = `${isTls ? "smtps" : "smtp"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const text = `${server}${user === "" ? "" : ", with a password"}, from ${mailFrom.address}`;
  return publicUrl === undefined ? `${text}\nset PUBLIC_URL: links in mails lead to this machine` : text;
}

/** The URL without credentials. */
export function shown(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
