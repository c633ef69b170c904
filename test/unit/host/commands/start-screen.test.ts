/** What a start prints: of the first key, and where to sign in. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startScreen } from "../../../../src/host/commands/start-screen.ts";
import { readConfig } from "../../../../src/host/settings/config.ts";

test("a first key's file is named while it is there, as it is not after a restore", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "weir-screen-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const config = readConfig({ DATA_DIR: dataDir });
  const screen = () => startScreen("http://127.0.0.1:1", config, { first: undefined, isTerminal: true });
  const file = join(dataDir, "first-key");
  expect(screen()).toContain(
    "Key: in WEIR_API_KEY below, one that you have or make (docs/operating.md#keys)",
  );
  expect(screen()).toContain("Bearer $WEIR_API_KEY");
  writeFileSync(file, "secret\n");
  expect(screen()).toContain(`Key: in ${file}`);
  expect(screen()).toContain(`Bearer $(cat ${file})`);
});

test("the console's address is always told, the sign-in link on a terminal only", () => {
  const config = readConfig({ DATA_DIR: "/nowhere" });
  const signInLink = "http://127.0.0.1:1/auth/link/x";
  const screen = (facts: { isTerminal: boolean; signInLink?: string }) =>
    startScreen("http://127.0.0.1:1", config, { first: undefined, ...facts });
  for (const isTerminal of [true, false])
    expect(screen({ isTerminal })).toContain("  Console: http://127.0.0.1:1/console\n");
  expect(screen({ isTerminal: true, signInLink })).toContain(`  Sign in: ${signInLink}\n`);
  expect(screen({ isTerminal: true })).not.toContain("Sign in");
  expect(screen({ isTerminal: false, signInLink })).not.toContain("/auth/link");
});
