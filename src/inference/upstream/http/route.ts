/** The way to an origin: directly, by a proxy that passes requests on, or through a tunnel that a proxy opens. */
import { basicPair, type ProxyAddress } from "../../../base/network/proxy-address.ts";

interface DirectRoute {
  readonly kind: "direct";
  readonly origin: URL;
}

export interface ProxyRoute {
  /**
   * `forwarded`: the proxy gets each request whole, with the URL in its first line (RFC 9112, 3.2.2). So plain HTTP goes by proxies of
   * HTTP: they commonly refuse tunnels to other ports than 443 (squid's own configuration does).
   */
  readonly kind: "forwarded" | "tunnelled";
  readonly origin: URL;
  readonly proxy: ProxyAddress;
}

/** What a proxy is asked for. */
export interface TunnelRequest extends Pick<ProxyRoute, "origin" | "proxy"> {
  readonly connectTimeoutMs: number;
}

export type Route = DirectRoute | ProxyRoute;

/** @param proxy undefined: the origin is called directly */
export function routeTo(origin: URL, proxy: ProxyAddress | undefined): Route {
  if (proxy === undefined) return { kind: "direct", origin };
  const isOfHttp = proxy.scheme === "http" || proxy.scheme === "https";
  return { kind: isOfHttp && origin.protocol === "http:" ? "forwarded" : "tunnelled", origin, proxy };
}

/** What a forwarded request has in its head beside a direct one. */
export interface Forwarding {
  /** Stands before the path: `http://provider.example`. */
  readonly origin: string;
  /** Whole lines. They may hold credentials. */
  readonly fields: string;
}

/** Undefined where the provider itself gets the requests. */
export const forwardingOf = (route: Route): Forwarding | undefined =>
  route.kind === "forwarded"
    ? { origin: route.origin.origin, fields: authorizationTo(route.proxy) }
    : undefined;

/** The field that signs in to a proxy of HTTP (RFC 7617), as a line; empty where it asks for none. */
export function authorizationTo({ credentials }: ProxyAddress): string {
  if (credentials === undefined) return "";
  return `proxy-authorization: Basic ${basicPair(credentials).toString("base64")}\r\n`;
}
