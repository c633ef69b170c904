/** A process ends although LMDB's thread waits for it. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = join(import.meta.dirname, "exit.program.ts");

function ended(...how: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const child = spawn(process.execPath, [PROGRAM, folder, ...how], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (data) => {
    output += String(data);
  });
  return new Promise<{ code: number | null; signal: string | null; output: string }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal, output })),
  );
}

test("an end in the midst of a transaction waits for it, and no other begins", async () => {
  const ends = await Promise.all(Array.from({ length: 4 }, () => ended()));
  expect(ends).toEqual(Array(4).fill({ code: 3, signal: null, output: "last words" }));
});

test("a transaction that never ends does not keep the process", async () => {
  expect(await ended("hang")).toEqual({ code: 3, signal: null, output: "last words" });
});
