/** Calls that run, as one gateway tells another of them; one of an earlier release does not say whether they are detached. */
import { expect, test } from "vitest";
import { LiveMark, MARKS } from "../../../../src/analytics/live/live-mark.ts";
import { running } from "./live.fixtures.ts";

const told = (call: object) => MARKS.unpack("org_1", { kind: "started", call });

test("a call comes as it was sent", () => {
  for (const isDetached of [true, false]) {
    const mark = new LiveMark("started", running("r", { isDetached }));
    expect(MARKS.unpack("org_1", JSON.parse(JSON.stringify(MARKS.pack(mark))))).toEqual(mark);
  }
});

test("a call of an earlier release is not detached, and one of another org is not taken", () => {
  const { isDetached: _, ...earlier } = running("r");
  expect(told(earlier)?.call.isDetached).toBe(false);
  expect(told({ ...earlier, orgId: "org_2" })).toBeUndefined();
});
