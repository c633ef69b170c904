/** Which parts of a table have gone without another one in their place. */
import { expect, test } from "vitest";
import { coveredBy, partNames } from "../../../../src/analytics/statements/part-names.ts";

test("parts are told from what else is in a table's folder", () => {
  const parts = ["all_1_1_0", "20261127_3_17_2", "20261127_3_17_2_18", "202611_1_1_0"];
  const others = [
    "detached",
    "format_version.txt",
    "mutation_4.txt",
    "deduplication_logs",
    "tmp_insert_all_2_2_0",
  ];
  expect(partNames([...others, ...parts, "delete_tmp_all_1_1_0", "tmp_merge_all_1_2_1"])).toEqual(parts);
});

test.each([
  ["is still there", "all_1_1_0", ["all_1_1_0"], true],
  ["was merged with others", "all_2_2_0", ["all_1_5_1"], true],
  ["was changed by a mutation", "all_1_5_1", ["all_1_5_1_7"], true],
  ["was emptied: a part without rows has its blocks", "20261127_3_3_0", ["20261127_3_3_1"], true],
  ["went with its partition", "20261127_3_3_0", ["20261128_1_9_2"], false],
  ["was one of two, of which the other is there", "all_2_2_0", ["all_1_1_0", "all_3_3_0"], false],
  ["reached further than what is there", "all_1_6_1", ["all_1_5_1"], false],
  ["went with all others", "all_1_1_0", [], false],
])("a part that %s", (_, part, parts, isCovered) => {
  expect(coveredBy(parts)(part)).toBe(isCovered);
});
