/** `fx.yaml`: what is refused, by its line, and that `weir check` says so before a start does. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFxRates } from "../../../../src/billing/rates/fx-config.ts";
import { check } from "../../../../src/host/commands/check.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-rates-"));
  cpSync(join(import.meta.dirname, "../../../../config"), folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = (text: string) => writeFileSync(join(folder, "fx.yaml"), text);

test("two rates of one day are refused", () => {
  write('rates:\n  - { day: 2026-11-20, usd_inr: "88" }\n  - { day: 2026-11-20, usd_inr: "89" }\n');
  expect(() => readFxRates(folder)).toThrow("fx.yaml:3:12 /rates/1/day: there are two rates of 2026-11-20");
});

describe("weir check", () => {
  async function said(): Promise<{ lines: string[]; code: number }> {
    const lines: string[] = [];
    const elsewhere = { PORT: "0", CLICKHOUSE_URL: "http://127.0.0.1:1", DATA_DIR: "/nowhere" };
    const code = await check({ ...elsewhere, CONFIG_DIR: folder }, (line) => lines.push(line));
    return { lines, code };
  }

  test("refuses rates that a start refuses", async () => {
    write('always: "-1"\n');
    const { lines, code } = await said();
    expect(code).toBe(1);
    expect(lines.join("\n")).toContain('fx.yaml:1:9 /always: give a rate such as "88.41250000"');
  });

  test("says who takes payments, and whence the rates are", async () => {
    write('rates:\n  - { day: 2026-11-20, usd_inr: "88" }\n');
    const { lines } = await said();
    expect(lines).toContain("payments       INR by simulated, USD by simulated");
    expect(lines).toContain("exchange       1 rates of fx.yaml, the newest of 2026-11-20");
    write("rates: []\n");
    expect((await said()).lines).toContain(
      "exchange       no rates, so nothing is quoted in INR, and an Indian supplier sells nothing",
    );
  });
});
