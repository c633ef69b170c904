/** How soon a gateway that is started for the first time answers. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeFolder } from "../../support/gateway.ts";
import { REPO } from "../../support/process.fixtures.ts";
import { spawnGateway } from "../../support/spawned-gateway.ts";

/** 1.5 s on a machine with nothing else to do; a slow one has a third of its speed, and reads the sources from its disk. */
const MOST_MS = 8_000;
const TRIES = 3;

test("a first start, on embedded defaults and the shipped catalog, is ready soon", async () => {
  const tookMs: number[] = [];
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), "weir-start-"));
    const fromMs = performance.now();
    const gateway = await spawnGateway({
      folder,
      env: { SIMULATOR_URL: "", CONFIG_DIR: join(REPO, "config") },
    });
    tookMs.push(performance.now() - fromMs);
    await gateway.stop();
    removeFolder(folder);
  }
  console.info(`ready after ${tookMs.map(Math.round).join(", ")} ms`);
  expect(Math.min(...tookMs)).toBeLessThan(MOST_MS);
});
