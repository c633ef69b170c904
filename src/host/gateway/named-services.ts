/** Services that the settings and the catalog name: no tenant's URL may reach them. */
import type { CatalogSnapshot } from "../../catalog/models/catalog.ts";
import { redisAddress } from "../../cluster/cells/redis/address.ts";
import { type Service, serviceAt } from "../../outbound/service-addresses.ts";
import type { Config } from "../settings/config.ts";

/** @param others such as the portal of e-invoices, which another file than the settings names */
export function servicesOfConfig(config: Config, others: readonly (string | undefined)[]): Service[] {
  const { clickhouseUrl, simulatorUrl, publicUrl, oidc, smtp, fxUrl, telemetry, payments, proxies } = config;
  const { stripe, razorpay, simulator } = payments;
  const urls = [clickhouseUrl, simulatorUrl, publicUrl, oidc?.issuer, fxUrl, telemetry?.endpoint];
  const mail = smtp && `smtp://${bracketed(smtp.host)}:${smtp.port}`;
  const ofProxies = [proxies.http?.shown, proxies.https?.shown];
  const all = [...urls, ...ofProxies, stripe?.apiBase, razorpay?.apiBase, simulator?.url, ...others, mail];
  return [...all, ...redisUrls(config)].flatMap((url) => serviceAt(url ?? "") ?? []);
}

function redisUrls({ redisUrl }: Config): string[] {
  if (redisUrl === undefined) return [];
  const address = redisAddress(redisUrl);
  if (address.kind === "socket") return [];
  if (address.kind === "url") return [address.url];
  return address.sentinels.map(({ host, port }) => `redis://${bracketed(host)}:${port}`);
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Providers that the gateway has a credential or an address for, and their proxies. */
export function servicesOfCatalog({ providers }: Pick<CatalogSnapshot, "providers">): Service[] {
  return [...providers.values()]
    .filter(({ status }) => status === "active")
    .flatMap(({ baseUrl, regionUrls = {}, regions, proxy }) => [
      ...[baseUrl, ...Object.values(regionUrls)].flatMap((url) =>
        url.includes("{region}") ? regions.map((region) => url.replaceAll("{region}", region)) : [url],
      ),
      ...(typeof proxy === "object" ? [proxy.shown] : []),
    ])
    .flatMap((url) => serviceAt(url) ?? []);
}
