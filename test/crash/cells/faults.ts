/** What is done to cells that are processes while they work: some are killed or stopped, and so is their Redis. */
import type { Random } from "../../../src/clock.ts";
import { type CellsWorld, signal } from "./world.ts";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** By what is done, in words; all of it has its moments at random. */
export const FAULTS: Record<string, (world: CellsWorld, random: Random) => Promise<void>> = {
  async none() {},
  async "kill -9 of cells"(world, random) {
    for (let n = 0; n < 2; n++) {
      await sleep(random() * 400);
      const up = await world.pidsUp();
      signal(up[Math.floor(random() * up.length)] ?? 0, "SIGKILL");
    }
  },
  async "cells that stop for a while"(world, random) {
    const up = await world.pidsUp();
    const stopped = up.filter(() => random() < 0.4);
    await sleep(random() * 300);
    for (const pid of stopped) signal(pid, "SIGSTOP");
    await sleep(200 + random() * 1500);
    for (const pid of stopped) signal(pid, "SIGCONT");
  },
  async "a restart of Redis"(world, random) {
    await sleep(random() * 400);
    signal(await world.redisPid(), "SIGKILL");
  },
  async "all of it"(world, random) {
    await Promise.all([
      FAULTS["kill -9 of cells"]?.(world, random),
      FAULTS["cells that stop for a while"]?.(world, random),
      FAULTS["a restart of Redis"]?.(world, random),
    ]);
  },
};
