/** Where a start shows a sign-in link, and its gateway or its cells take it. */
import { isOnThisMachine, redisAddress } from "../../cluster/cells/redis/address.ts";
import { type Config, isLocalOnly } from "./config.ts";

/**
 * Whether whoever sees the terminal and whoever reaches the gateway are the same. Cells that share a Redis with other machines do not
 * share the services of this one.
 */
export const offersLink = ({ host, publicUrl, oidc, settings, redisUrl }: Config): boolean =>
  isLocalOnly({ host, publicUrl }) &&
  publicUrl === undefined &&
  oidc === undefined &&
  settings.trusted_proxies.length === 0 &&
  (redisUrl === undefined || isOnThisMachine(redisAddress(redisUrl)));
