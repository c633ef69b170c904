/** A gateway alone pays nothing for cells. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { spawnGateway } from "../../support/spawned-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-alone-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOOK = `--import=${join(import.meta.dirname, "told-of-redis.mjs")}`;
const environment = (name: string) => ({ NODE_OPTIONS: HOOK, WEIR_TEST_LOADED: join(folder, name) });

test("a gateway without cells loads nothing of Redis", async () => {
  const gateway = await spawnGateway({ engine: false, env: environment("alone") });
  expect((await gateway.chat()).status).toBe(200);
  await gateway.stop();
  expect(existsSync(join(folder, "alone"))).toBe(false);
});

test("what loads the part of cells is noticed", () => {
  const module = join(import.meta.dirname, "../../../src/cluster/cells/cell.ts");
  const env = { ...process.env, ...environment("cell") };
  execFileSync(process.execPath, ["--input-type=module", "-e", `await import(${JSON.stringify(module)})`], {
    env,
  });
  expect(existsSync(join(folder, "cell"))).toBe(true);
});
