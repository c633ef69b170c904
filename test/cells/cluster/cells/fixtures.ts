/** Cells in one process, each with a folder and connections of its own, at a real Redis. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../../src/base/clock.ts";
import { type Cell, openCell } from "../../../../src/cluster/cells/cell.ts";
import { type DatasetRow, datasetId } from "../../../../src/cluster/cells/dataset/dataset.ts";
import type { Formats } from "../../../../src/cluster/cells/dataset/formats.ts";
import { connectRedis, type RedisClient, type RedisLink } from "../../../../src/cluster/cells/redis/redis.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { createDataset } from "../../../support/cells/dataset.ts";
import { startRedis, type TestRedis } from "../../../support/redis-server.ts";

export interface TestCell extends Cell {
  readonly name: string;
  readonly local: Store;
  /** Why the process may not go on, once it may not. */
  ended(): Error | undefined;
  /** Why it drains, once it does. */
  outdated(): Error | undefined;
  stop(): Promise<void>;
}

export interface TestCellOptions {
  /** Path of the socket of Redis, or of a proxy before it. */
  readonly url?: string;
  readonly clock?: Clock;
  /** How it connects, if not by sockets alone. */
  readonly client?: RedisClient;
  /** The cell's folder, if it is not named like the cell. */
  readonly folder?: string;
  /** Parts that restate are opened on it: then `opened` is to be called. */
  readonly hasParts?: boolean;
  /** Replicas of Redis that must have each write. */
  readonly replicas?: number;
  /** `cells.stale_ms` */
  readonly staleMs?: number;
  /** Another release's formats. */
  readonly formats?: Formats;
  /** Whether another release, which knows other tables, shares the table. */
  readonly isShared?: (table: string) => boolean;
}

export interface Bench {
  readonly redis: TestRedis;
  readonly link: RedisLink;
  readonly id: string;
  readonly log: string[];
  /** Each cell's folder is in it, by its name. */
  readonly folder: string;
  /** Opens a cell; one that was stopped opens on its folder again. */
  cell(name: string, options?: TestCellOptions): Promise<TestCell>;
  /** Cells that were not stopped. */
  opened(): readonly TestCell[];
  close(): Promise<void>;
}

/** Tables whose names begin so are of one cell alone. */
const LOCAL = /^(?:local\.|cells\.|idempotent_|response|conversation)/;
export const isShared = (table: string): boolean => !LOCAL.test(table);

export async function openBench(
  rows: Iterable<DatasetRow> = [],
  settings: readonly string[] = [],
): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), "weir-cells-"));
  const redis = await startRedis(settings);
  const log: string[] = [];
  const link = connectRedis({ url: redis.url, log: { warn: () => {} } });
  await link.ready(5000);
  const id = datasetId();
  await createDataset(link, id, rows);
  const open = new Set<TestCell>();
  return {
    folder,
    redis,
    link,
    id,
    log,
    async cell(name, more = {}) {
      const { url = redis.url, clock = systemClock, folder: own = name, hasParts = false } = more;
      const { formats, staleMs, replicas = 0, isShared: knows = isShared, client } = more;
      const local = openStore(join(folder, own));
      let ended: Error | undefined;
      let outdated: Error | undefined;
      const cell = await openCell({
        cell: name,
        datasetId: id,
        redisUrl: url,
        local,
        isShared: knows,
        clock,
        replicas,
        staleMs,
        log: { warn: (fields, message) => void log.push(`${name}: ${message} ${JSON.stringify(fields)}`) },
        onEnd: (reason) => {
          ended = reason;
        },
        onOutdated: (reason) => {
          outdated = reason;
        },
        ...(formats && { formats }),
        ...(client && { redis: client }),
      });
      if (!hasParts) await cell.opened();
      const made: TestCell = {
        ...cell,
        name,
        local,
        ended: () => ended,
        outdated: () => outdated,
        async stop() {
          open.delete(made);
          await cell.store.close();
        },
      };
      open.add(made);
      return made;
    },
    opened: () => [...open],
    async close() {
      // One that may not go on cannot take its leave.
      for (const cell of [...open])
        await cell.stop().catch((error: unknown) => {
          if (cell.ended() === undefined) throw error;
        });
      link.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
