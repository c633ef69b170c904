/**
 * `/metrics`, on the gateway's port or on one of its own. It tells of traffic and money, so it asks for a token; without one it answers this
 * machine alone, except on a port of its own that was opened to others by name.
 */
import { timingSafeEqual } from "node:crypto";
import { fail } from "../base/errors.ts";
import type { MetricsText } from "../base/metrics/family.ts";
import type { HttpHead } from "../base/operation/http-head.ts";
import { digestOf } from "./metrics-settings.ts";
import type { Page } from "./server.ts";

export interface MetricsPageOptions {
  readonly path: "/metrics" | "/metrics/sum";
  /** @throws WeirError (as a rejection) where they are told elsewhere */
  readonly read: () => Promise<MetricsText>;
  /** SHA-256 of the token; undefined: none is asked for. */
  readonly tokenDigest: Uint8Array | undefined;
  /** Without a token, whether it answers other machines too. */
  readonly isOpen: boolean;
}

export const metricsPage = (options: MetricsPageOptions): Page => ({
  path: options.path,
  async read({ head }) {
    assertMayRead(options, head);
    return { status: 200, ...(await options.read()) };
  },
});

/** `url` is empty where they are told nowhere. For one of several gateways on a port: who asks there reaches any of them, and takes its figures for those of all. */
export const toldElsewhere =
  ({ cell, url }: { readonly cell: string; readonly url: string }) =>
  async (): Promise<MetricsText> => {
    throw fail(
      "not_found",
      `This is cell ${cell}, one of several at this port; its metrics alone would be taken for those of all, which are ${url === "" ? "told nowhere: the usual port was taken; set METRICS_PORT" : `at ${url} (METRICS_PORT)`}.`,
    );
  };

/** @throws WeirError 401 without the token; 403 `ip_not_allowed` from elsewhere, where there is none */
function assertMayRead({ tokenDigest, isOpen }: MetricsPageOptions, head: HttpHead): void {
  if (tokenDigest === undefined) {
    if (isOpen || head.isFromThisMachine === true) return;
    throw fail(
      "ip_not_allowed",
      "Metrics are told to this machine alone, and not through a proxy. Set METRICS_TOKEN or METRICS_PORT to read them from elsewhere.",
    );
  }
  const [, given] = /^bearer +(\S+) *$/i.exec(head.header("authorization")) ?? [];
  if (given === undefined)
    throw fail("missing_key", "Metrics ask for the token of METRICS_TOKEN: Authorization: Bearer …");
  if (!timingSafeEqual(digestOf(given), tokenDigest)) throw fail("invalid_key", "This is not METRICS_TOKEN.");
}
