/** `fx.yaml`: what is refused, by its line. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFxRates } from "../../../src/billing/fx-config.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-rates-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = (text: string) => writeFileSync(join(folder, "fx.yaml"), text);

test("two rates of one day are refused", () => {
  write('rates:\n  - { day: 2026-11-20, usd_inr: "88" }\n  - { day: 2026-11-20, usd_inr: "89" }\n');
  expect(() => readFxRates(folder)).toThrow("fx.yaml:3:12 /rates/1/day: there are two rates of 2026-11-20");
});
