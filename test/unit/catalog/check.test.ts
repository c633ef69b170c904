/** `weir check` says which prices change when. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { check } from "../../../src/host/commands/check.ts";
import { modelFile, PROVIDERS } from "../../support/catalog/world.fixtures.ts";

test("dated prices are said in their order, and what is over is not", async () => {
  const dir = mkdtempSync(join(tmpdir(), "weir-check-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, "models"));
  writeFileSync(join(dir, "providers.yaml"), PROVIDERS);
  const dated = [
    ["2020-01-01T00:00:00Z", 2],
    ["2190-01-01T00:00:00Z", 3],
    ["2191-01-01T05:30:00+05:30", 4],
  ].map(([from, input]) => `{ from: ${from}, price: { input: ${input}, output: 4 } }`);
  const endpoint = `provider: near, upstream_model: m, region: eu, price: { input: 1, output: 4 }, scheduled: [${dated.join(", ")}]`;
  writeFileSync(join(dir, "models/real.yaml"), modelFile([endpoint]));
  const lines: string[] = [];
  const env = {
    CONFIG_DIR: dir,
    DATA_DIR: join(dir, "data"),
    PORT: "0",
    CLICKHOUSE_URL: "http://127.0.0.1:1",
  };
  expect(await check(env, (line) => lines.push(line))).toBe(0);
  expect(lines.filter((line) => line.startsWith("price "))).toEqual([
    "price          2190-01-01T00:00:00.000Z real/model, ep_near_m_eu: input $2 → $3 per 1M tokens",
    "price          2191-01-01T00:00:00.000Z real/model, ep_near_m_eu: input $3 → $4 per 1M tokens",
  ]);
});
