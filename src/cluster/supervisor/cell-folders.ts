/**
 * Where the cells of a supervisor keep their data. The first has `DATA_DIR` itself, where a gateway that ran alone has its data too: so
 * one gateway becomes several without a file being moved.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const OTHERS = "cells";

/** @param number of the cell, from 1 */
export const cellFolder = (dataDir: string, number: number): string =>
  number === 1 ? dataDir : join(dataDir, OTHERS, String(number));

/** Numbers of the cells that have a folder, beside the first. */
export function otherCells(dataDir: string): number[] {
  const folder = join(dataDir, OTHERS);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d{1,3}$/.test(name))
    .map(Number);
}

/** Folder of the Redis server that a supervisor runs. */
export const redisFolder = (dataDir: string): string => join(dataDir, "redis");

/** Whether a supervisor ran here with a Redis of its own. */
export const hasOwnRedis = (dataDir: string): boolean => existsSync(redisFolder(dataDir));

/** Whether a supervisor ran here: no gateway can run alone on the folder. */
export const hasSupervisedCells = (dataDir: string): boolean =>
  hasOwnRedis(dataDir) || existsSync(join(dataDir, OTHERS));
