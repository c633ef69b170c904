/**
 * `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`: the proxies by which providers are called, unless `providers.yaml` names
 * another one for a provider. Nothing else is called by them.
 */
import type { ProxyAddress } from "../../../base/network/proxy-address.ts";
import { type IsDirect, meaningless, readNoProxy } from "./no-proxy.ts";

export interface ProxySettings {
  /** For addresses of this scheme. Undefined: they are called directly. */
  readonly http: ProxyAddress | undefined;
  readonly https: ProxyAddress | undefined;
  /** Origins that are called directly nevertheless. */
  readonly isDirect: IsDirect;
  /** Places, from 1, of entries of `NO_PROXY` that mean no host. */
  readonly meaningless: readonly number[];
}

type Name = "http_proxy" | "https_proxy" | "all_proxy";
/** As they were read; a name in lower case wins, as it does with curl. */
type Variables = Readonly<Partial<Record<Name | Uppercase<Name>, ProxyAddress | undefined>>> &
  Readonly<Partial<Record<"no_proxy" | "NO_PROXY", string | undefined>>>;

/** The settings that the variables of the environment make. */
export function proxySettingsOf(set: Variables): ProxySettings {
  const all = set.all_proxy ?? set.ALL_PROXY;
  const around = set.no_proxy ?? set.NO_PROXY ?? "";
  return Object.freeze({
    http: set.http_proxy ?? set.HTTP_PROXY ?? all,
    https: set.https_proxy ?? set.HTTPS_PROXY ?? all,
    isDirect: readNoProxy(around),
    meaningless: meaningless(around),
  });
}

export const NO_PROXIES = proxySettingsOf({});

/** The proxy by which an origin is called; undefined: directly. */
export function proxyFor(origin: URL, { http, https, isDirect }: ProxySettings): ProxyAddress | undefined {
  const proxy = origin.protocol === "https:" ? https : http;
  return proxy === undefined || isDirect(origin) ? undefined : proxy;
}
