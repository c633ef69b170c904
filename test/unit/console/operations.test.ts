/** The types of answers that the console is checked against are those that the API's description has now. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { OPERATIONS, operationsText, usedOperations } from "../../../scripts/console-types.ts";

test("console/api/operations.ts has each operation that the console calls, as the API describes it", async () => {
  const text = await operationsText(usedOperations());
  expect(
    readFileSync(OPERATIONS, "utf8"),
    "run `node scripts/console-types.ts`, then `npx tsc -p console`",
  ).toBe(text);
});

test("an operation that the API lacks is named", async () => {
  await expect(operationsText(["readMinds"])).rejects.toThrow("readMinds, which is no operation");
});
