/** What a gateway needs to be a cell of an installation: how it is told to be one. */
import type { SharedEngine } from "../../analytics/analytics.ts";
import type { SharedInstallation } from "../../cluster/cells/open.ts";
import type { KnownServices } from "../../cluster/supervisor/services.ts";
import { type Config, ConfigError } from "../settings/config.ts";
import { DEFAULT_CELL } from "../settings/environment.ts";

/** What differs in a gateway that is one of several on a machine, on one port. */
export interface CellPorts {
  readonly engine: SharedEngine | undefined;
  /** Services of the machine. Undefined: other machines have cells too, and services of one would be unknown to the others. */
  readonly services: KnownServices | undefined;
  /** Ports of the machine on which its supervisor and that one's other children listen. */
  readonly portsOfMachine: () => readonly number[];
  /** Folder of what people look for in one place, whichever cell wrote it: mails that were sent nowhere. */
  readonly machineDir: string;
  /** Where the supervisor tells the metrics of all its cells. Undefined: this one tells its own. */
  readonly metricsUrl: string | undefined;
  /** Resolves when nobody else will take the calls: a stop then does not wait for clients to go elsewhere. */
  readonly hurry: Promise<void>;
}

/**
 * Undefined: the gateway is alone.
 * @throws ConfigError where `REDIS_URL` is set and what a cell needs besides is not
 */
export function sharedInstallation(config: Config): SharedInstallation | undefined {
  const { redisUrl, redisReplicas, cell, secretsKey } = config;
  if (redisUrl === undefined) return undefined;
  const faults: string[] = [];
  if (cell === DEFAULT_CELL)
    faults.push(
      `CELL: is needed with REDIS_URL: a name that no other cell of the installation has, and that stays with ${config.dataDir}`,
    );
  if (secretsKey === undefined)
    faults.push(
      "WEIR_SECRETS_KEY: is needed with REDIS_URL, and all cells of an installation need the same one",
    );
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return { redisUrl, redisReplicas };
}
