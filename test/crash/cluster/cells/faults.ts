/** What is done to cells that are processes while they work: some are killed or stopped, and so is their Redis. */
import type { Random } from "../../../../src/base/clock.ts";
import { anyMoment } from "../../../support/pace.ts";
import { type CellsWorld, signal } from "./world.ts";

/** By what is done, in words; all of it has its moments at random. */
export const FAULTS: Record<string, (world: CellsWorld, random: Random) => Promise<void>> = {
  async none() {},
  async "kill -9 of cells"(world, random) {
    for (let n = 0; n < 2; n++) {
      await anyMoment(random, 400);
      const up = await world.pidsUp();
      signal(up[Math.floor(random() * up.length)] ?? 0, "SIGKILL");
    }
  },
  async "cells that stop for a while"(world, random) {
    const up = await world.pidsUp();
    const stopped = up.filter(() => random() < 0.4);
    await anyMoment(random, 300);
    for (const pid of stopped) signal(pid, "SIGSTOP");
    await anyMoment(random, 1700);
    for (const pid of stopped) signal(pid, "SIGCONT");
  },
  async "a restart of Redis"(world, random) {
    await anyMoment(random, 400);
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
