/** A binary that is not the pinned one is not loaded: the start is refused with what to do. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { assertPinned } from "../../../../src/edge/sockets/socket-library.ts";

const REPO = join(import.meta.dirname, "../../../..");
const BINARIES = join(REPO, "node_modules/uWebSockets.js/dist/bin");
const folder = mkdtempSync(join(tmpdir(), "weir-binary-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SYSTEMS = ["linux_x64", "linux_arm64", "darwin_x64", "darwin_arm64"];
const nameOf = (system: string): string => `uws_${system}_127.node`;

test.each(SYSTEMS)("S15: the installed binary of %s is the pinned one", (system) => {
  expect(() => assertPinned({ folder: BINARIES, name: nameOf(system) })).not.toThrow();
});

test("S15: the one that this process loads is checked without being named", () => {
  expect(() => assertPinned()).not.toThrow();
});

test("S15: one changed byte is refused with file, expected, found and remedy", () => {
  const name = nameOf("linux_x64");
  const file = join(folder, name);
  copyFileSync(join(BINARIES, name), file);
  const bytes = readFileSync(file);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect(() => assertPinned({ folder, name })).toThrow(
    new RegExp(
      `^${file} is not the pinned binary: SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}\\. .*Remove node_modules`,
    ),
  );
});

test("S15: so is one that is missing, and a system without a pinned one", () => {
  expect(() => assertPinned({ folder, name: nameOf("darwin_x64") })).toThrow(
    /cannot be read .*install again/,
  );
  expect(() => assertPinned({ folder, name: "uws_linux_x64_137.node" })).toThrow(
    /no pinned binary of uWebSockets\.js for this system and Node: uws_linux_x64_137\.node/,
  );
});

test("S15: a start with another binary ends with one line, before the binary runs", () => {
  // The process reads one byte more than is in the file.
  const changed = `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
    const read = fs.readFileSync;
    fs.readFileSync = (path, ...more) => /uws_.*[.]node$/.test(String(path)) ? Buffer.concat([read(path), Buffer.from([0])]) : read(path, ...more);
    syncBuiltinESMExports();`;
  const env = { ...process.env, DATA_DIR: join(folder, "data"), PORT: "0" };
  const run = spawnSync(
    process.execPath,
    [`--import=data:text/javascript,${encodeURIComponent(changed)}`, join(REPO, "src/main.ts")],
    { env, encoding: "utf8" },
  );
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/is not the pinned binary: SHA-256/);
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});
