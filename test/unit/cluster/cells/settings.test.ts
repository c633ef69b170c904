/** `cells` of `weir.yaml`, and what follows from its bounds elsewhere. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { RETIRE_SILENCE_MS } from "../../../../src/cluster/cells/membership/registry.ts";
import { SCRIPTS } from "../../../../src/cluster/cells/scripts/scripts.ts";
import { LONGEST_STALE_MS } from "../../../../src/cluster/cells/settings.ts";
import { readConfig } from "../../../../src/host/settings/config.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-cells-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

function staleMs(text: string): number {
  writeFileSync(join(folder, "weir.yaml"), text);
  return readConfig({ CONFIG_DIR: folder, DATA_DIR: folder }).settings.cells.stale_ms;
}

test("C3: a cell acts without Redis for 5 s, or for what is set, within bounds that are named", () => {
  expect(staleMs("")).toBe(5000);
  for (const ms of [2000, LONGEST_STALE_MS]) expect(staleMs(`cells:\n  stale_ms: ${ms}\n`)).toBe(ms);
  expect(() => staleMs("cells:\n  stale_ms: 1999\n")).toThrow(/weir\.yaml:2:\d+ \/cells\/stale_ms: .*2000/);
  expect(() => staleMs("cells:\n  stale_ms: 30001\n")).toThrow(/weir\.yaml:2:\d+ \/cells\/stale_ms: .*30000/);
});

test("C3: whoever waits for the leases of a silent cell waits for the longest that may be set", () => {
  expect(RETIRE_SILENCE_MS).toBeGreaterThan(LONGEST_STALE_MS);
  expect(SCRIPTS.enter.text).toContain(`local UNSURE_MS = ${RETIRE_SILENCE_MS}\n`);
  expect(SCRIPTS.exchange.text).toContain(`local LONGEST_STALE_MS = ${LONGEST_STALE_MS}\n`);
});
