/**
 * S1: statements at random, over all that the engine knows by name. One that passes the check is run as an analyst's: no file is
 * read, no connection made, no row of another org told, and the engine lives. Ten for each round of `WEIR_FUZZ_ROUNDS`, a million
 * in `npm run fuzz`; `WEIR_FUZZ_ONLY="statements:<number>"` runs the statement that a find names, and `"statements:<from>-<to>"` those
 * from one number to before another, so that a long run can be had in parts.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Batch, BatchResult } from "./statements.engine.ts";

const FEW_ROUNDS = 100;
const [, ONLY, BEFORE] = /^statements:(\d+)(?:-(\d+))?$/.exec(process.env.WEIR_FUZZ_ONLY ?? "") ?? [];
const FROM = Number(ONLY ?? 0);
const STATEMENTS =
  ONLY === undefined
    ? 10 * Number(process.env.WEIR_FUZZ_ROUNDS ?? FEW_ROUNDS)
    : Number(BEFORE ?? FROM + 1) - FROM;
const BATCH = 500;
/** Statements for one process: what the engine keeps of its errors grows. */
const PER_PROCESS = 50_000;
const MOST_FINDS = 10;

const folders: string[] = [];
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** An engine's process: runs a batch, or says by which statement it died. */
async function openEngine() {
  const folder = mkdtempSync(join(tmpdir(), "weir-statements-"));
  folders.push(folder);
  writeFileSync(join(folder, "progress"), "its start");
  const child = fork(new URL("statements.engine.ts", import.meta.url), [folder], { stdio: "inherit" });
  children.add(child);
  const told = <T>() =>
    new Promise<T>((resolve, reject) => {
      const died = (code: number | null, signal: string | null) =>
        reject(
          new Error(
            `the engine died (${signal ?? code}) at ${readFileSync(join(folder, "progress"), "utf8")}`,
          ),
        );
      child.once("exit", died);
      child.once("message", (message) => {
        child.off("exit", died);
        resolve(message as T);
      });
    });
  await told();
  return {
    run(batch: Batch): Promise<BatchResult> {
      const result = told<BatchResult>();
      child.send(batch);
      return result;
    },
    close() {
      child.kill("SIGKILL");
      children.delete(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test(
  "S1: no statement that passes the check reads a file, reaches the network or tells of another org",
  async () => {
    const finds: string[] = [];
    let [passed, answered, done] = [0, 0, 0];
    let engine = await openEngine();
    for (let from = FROM; done < STATEMENTS && finds.length < MOST_FINDS; from += BATCH) {
      const to = Math.min(from + BATCH, FROM + STATEMENTS);
      const result = await engine.run({ from, to, isUnchecked: false }).catch(async (error: unknown) => {
        engine.close();
        engine = await openEngine();
        return { passed: 0, answered: 0, finds: [String(error)] };
      });
      passed += result.passed;
      answered += result.answered;
      finds.push(...result.finds);
      done += to - from;
      if (done % PER_PROCESS === 0 && done < STATEMENTS) {
        engine.close();
        engine = await openEngine();
        console.log(`statements: ${done}, ${passed} passed, ${answered} answered`);
      }
    }
    engine.close();
    expect(finds).toEqual([]);
    console.log(`statements: ${FROM} to ${FROM + STATEMENTS}, ${passed} passed, ${answered} answered`);
    if (ONLY !== undefined && BEFORE === undefined) return;
    // Statements that are all refused would show nothing.
    expect(passed).toBeGreaterThan(STATEMENTS / 5);
    expect(answered).toBeGreaterThan(STATEMENTS / 20);
  },
  120_000 + STATEMENTS * 60,
);

test("S1: the same statements do read the files where nothing is checked", async () => {
  const engine = await openEngine();
  const { finds } = await engine.run({ from: 0, to: 200, isUnchecked: true });
  engine.close();
  expect(finds.filter((find) => /read a file|told/.test(find)).length).toBeGreaterThan(3);
});
