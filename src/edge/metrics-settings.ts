/** `METRICS_TOKEN`, `METRICS_PORT` and `METRICS_HOST`: who may read `/metrics`, which tells of traffic and money. */
import { hash } from "node:crypto";
import { z } from "zod";

export const metricsVariables = {
  METRICS_TOKEN: z
    .string()
    .max(1000)
    .refine((text) => /^[\x21-\x7e]+$/.test(text), "must be printable characters without spaces")
    .optional(),
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  METRICS_HOST: z.string().min(1).default("127.0.0.1"),
} as const;

export interface MetricsSettings {
  /** SHA-256 of the token that a scrape must carry; undefined: none is asked for. */
  readonly tokenDigest: Buffer | undefined;
  /** A port of their own: then the gateway's has none. Port 0: any free one. */
  readonly own: MetricsAddress | undefined;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Where a supervisor tells the metrics of its cells, unless `METRICS_PORT` says where: to this machine, whatever `METRICS_HOST` is. */
const OF_CELLS: MetricsAddress = { host: "127.0.0.1", port: 9464 };

/** SHA-256. Digests have one length, so comparing them takes one time. */
export const digestOf = (token: string): Buffer => hash("sha256", token, "buffer");

/**
 * Where a supervisor listens for scrapes of its cells.
 * @param gatewayPort port of the cells
 * @throws Error with what to change
 */
export function metricsAddressOfCells(
  { own = OF_CELLS }: MetricsSettings,
  gatewayPort: number,
): MetricsAddress {
  if (own.port === gatewayPort && own.port !== 0)
    throw new Error(
      `METRICS_PORT: is ${own.port} where several cells run and it is not set, and so is PORT; set one to another`,
    );
  return own;
}

/** @throws Error with what is wrong */
export function metricsSettingsOf(
  env: z.output<z.ZodObject<typeof metricsVariables>>,
  gatewayPort: number,
): MetricsSettings {
  const { METRICS_TOKEN: token, METRICS_PORT: port, METRICS_HOST: host } = env;
  if (port !== undefined && port !== 0 && port === gatewayPort)
    throw new Error("METRICS_PORT: is PORT, too; use another, or leave it out");
  return {
    tokenDigest: token === undefined ? undefined : digestOf(token),
    own: port === undefined ? undefined : { host, port },
  };
}
