/**
 * What the engine's process does with the text of a statement before the engine has it takes time in proportion to its length: it
 * answers all organisations, and an analyst's statement has up to 256 KB. By the processor's time, behind all other tests.
 */
import { expect, test } from "vitest";
import { splitFormat } from "../../../src/analytics/engine/engine-run.ts";
import { MAX_ANALYST_SQL_BYTES } from "../../../src/analytics/statements/analyst-query.ts";
import { checkText } from "../../../src/analytics/statements/analyst-text.ts";
import { EngineError } from "../../../src/analytics/statements/engine-error.ts";
import { leastProcessorMs } from "../../support/processor-time.fixtures.ts";

const MOST_MS = 50;
const filled = (unit: string): string => unit.repeat(Math.floor((MAX_ANALYST_SQL_BYTES - 100) / unit.length));

test.each(
  [" ", ";", "\t;", " FORMAT ", " FORMAT a", ` FORMAT${" ".repeat(500)}`, " SETTINGS a = ", "\\\\", "a,"].map(
    (unit) => [JSON.stringify(unit).slice(0, 40), filled(unit)] as const,
  ),
)("S9: a text of %s within a statement", (_what, text) => {
  const sql = `SELECT '${text}x'`;
  expect(leastProcessorMs(() => splitFormat(sql))).toBeLessThan(MOST_MS);
  const check = () => {
    try {
      checkText(sql);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  };
  expect(leastProcessorMs(check)).toBeLessThan(MOST_MS);
});

test("the end of a statement is cut off, and its format told", () => {
  expect(splitFormat("SELECT 1 FORMAT CSV SETTINGS a = 1 ;\n; ")).toEqual({
    head: "SELECT 1 SETTINGS a = 1",
    format: "CSV",
  });
  expect(splitFormat("SELECT ' ; '")).toEqual({ head: "SELECT ' ; '", format: undefined });
  expect(splitFormat(" ; ")).toEqual({ head: "", format: undefined });
});
