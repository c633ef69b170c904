/**
 * `weir backup TO` of several cells of one machine. A cell that runs holds its files still when its supervisor passes the question on;
 * the folder of one that is stopped this process opens itself, and has it to the end.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { cellFolder, hasOwnRedis, otherCells, redisFolder } from "../../cluster/supervisor/cell-folders.ts";
import { askSupervisor } from "../../cluster/supervisor/requests.ts";
import { supervisorStatus } from "../../cluster/supervisor/supervisor.ts";
import { lmdbPath } from "../../store/recovery/inspection.ts";
import { backUpInstallation } from "../backup/installation.ts";
import type { BackupOptions, BegunCopy, Holder } from "../backup/make.ts";
import type { Manifest } from "../backup/manifest.ts";
import { engineEnded } from "../backup/records.ts";
import { VERSION } from "../gateway/version.ts";
import type { Config } from "../settings/config.ts";
import { BEGIN_MS, FREEZE_MS, stoppedHolder } from "./backup-holder.ts";

/** The supervisor answers somewhat later than the cell. */
const MORE_MS = 5000;

/** @throws Error with lines for the operator */
export async function backUpCells(
  asked: BackupOptions,
  config: Config,
  withRecords: boolean,
): Promise<Manifest> {
  const { dataDir } = asked;
  const known = (await supervisorStatus(dataDir))?.cells;
  const ready = new Set((known ?? []).filter(({ state }) => state === "ready").map(({ cell }) => cell));
  const numbers = [1, ...otherCells(dataDir).sort((a, b) => a - b)];
  const folders = numbers
    .map((number) => ({ number, folder: cellFolder(dataDir, number) }))
    .filter(({ folder }) => existsSync(lmdbPath(folder)));
  const [running] = ready;
  return await backUpInstallation({
    ...asked,
    cells: folders.map(({ number, folder }) => ({
      path: relative(dataDir, folder),
      holder: ready.has(number)
        ? runningCell(dataDir, number, false)
        : stoppedHolder({ ...config, dataDir: folder }, false),
    })),
    redis: hasOwnRedis(dataDir) ? relative(dataDir, redisFolder(dataDir)) : undefined,
    engine:
      running === undefined ? stoppedEngine(config, withRecords) : runningCell(dataDir, running, withRecords),
  });
}

function runningCell(dataDir: string, number: number, records: boolean): Holder {
  return {
    begin: async () =>
      (await askSupervisor(
        dataDir,
        { backup: number, call: { name: "begin", records }, withinMs: BEGIN_MS },
        BEGIN_MS + MORE_MS,
      )) as BegunCopy,
    async freeze({ id }) {
      const call = { name: "freeze", id } as const;
      const request = { backup: number, call, withinMs: FREEZE_MS };
      const frozen = await askSupervisor(dataDir, request, FREEZE_MS + MORE_MS);
      return typeof frozen === "string" ? frozen : undefined;
    },
    // It ends by itself.
    end: async () => {},
  };
}

/** Nobody starts the engine while the first cell's folder is held. */
function stoppedEngine({ dataDir, clickhouseUrl }: Config, withRecords: boolean): Holder {
  return {
    async begin() {
      const isEmbedded = clickhouseUrl === undefined && existsSync(join(dataDir, "clickhouse"));
      if (isEmbedded && withRecords) await engineEnded(dataDir);
      const records =
        clickhouseUrl !== undefined ? "server" : isEmbedded && withRecords ? "embedded" : "none";
      return { id: randomBytes(12).toString("hex"), frame: 0, release: VERSION, records };
    },
    freeze: async () => undefined,
    end: async () => {},
  };
}
