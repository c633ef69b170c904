/** `docs/refusals.md` and the table of refusals say the same. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REFUSALS_FILE, refusalsText } from "../../../scripts/refusals-table.ts";

test("docs/refusals.md lists the rows of the table", () => {
  expect(readFileSync(REFUSALS_FILE, "utf8"), "node scripts/refusals-table.ts writes it").toBe(
    refusalsText(),
  );
});
