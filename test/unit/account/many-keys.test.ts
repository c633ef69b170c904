/** An org of many keys: how many of them each act and each page looks at. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MOST_WALKED } from "../../../src/base/operation/page.ts";
import { manyKeys } from "../../support/account/many-keys.ts";

const COUNT = MOST_WALKED + 2_000;
/** More than a few rows, and far from all. */
const FEW = 200;

describe("an org of many keys", () => {
  let org: Awaited<ReturnType<typeof manyKeys>>;
  beforeAll(async () => {
    org = await manyKeys(COUNT);
  });
  afterAll(() => org.stop());

  test("looks at few of them to make, change, rotate and end one", async () => {
    const { answer, read } = await org.call("createKey", { body: { name: "one more", limits: { rpm: 5 } } });
    expect(read).toBeLessThan(FEW);
    const { id } = answer;
    const changed = await org.call("updateKey", { id, body: { limits: { rpm: 6 }, name: "renamed" } });
    expect(changed.read).toBeLessThan(FEW);
    const rotated = await org.call("rotateKey", { id, body: { grace_seconds: 60 } });
    expect(rotated.read).toBeLessThan(FEW);
    // Both keys of a rotation that is under way get what one of them is given.
    const both = await org.call("updateKey", { id, body: { limits: { rpm: 7 } } });
    expect(both.read).toBeLessThan(FEW);
    const successor = await org.call("getKey", { id: rotated.answer.id });
    expect(successor.answer.limits).toEqual({ rpm: 7 });
    const revoked = await org.call("revokeKey", { id: rotated.answer.id });
    expect(revoked.read).toBeLessThan(FEW);
  });

  test("looks at those of a page to list it, and at few to find one by its id", async () => {
    const page = await org.call("listKeys", { query: { limit: 100 } });
    expect([page.answer.data.length, page.read < 2 * FEW]).toEqual([100, true]);
    const whole = await org.call("listKeys", { query: { q: org.idOf(3) } });
    expect(whole.answer.data.map(({ name }) => name)).toEqual([org.nameOf(3)]);
    expect(whole.read).toBe(1);
  });

  test("looks at a bounded number to search names, and goes on where it stopped", async () => {
    const first = await org.call("listKeys", { query: { q: org.nameOf(3) } });
    expect([first.answer.data, first.answer.next_cursor === ""]).toEqual([[], false]);
    expect(first.read).toBeLessThanOrEqual(MOST_WALKED + FEW);
    const second = await org.call("listKeys", {
      query: { q: org.nameOf(3), cursor: first.answer.next_cursor },
    });
    expect(second.answer.data.map(({ id }) => id)).toEqual([org.idOf(3)]);
  });
});
