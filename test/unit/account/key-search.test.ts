/** Which keys a search finds, whoever asks, and where a page of it ends. */
import { describe, expect, test } from "vitest";
import { accountRig } from "./fixtures.ts";

const rig = accountRig();
const { create, list, addKey, rowOf } = rig;

const found = async (query: object): Promise<unknown[]> => (await list(query)).data.map(({ name }) => name);

describe("a search of keys", () => {
  test("finds names by any part of them, whatever its case or form", async () => {
    for (const name of ["Batch jobs", "nightly BATCH", "Straße café", "other"]) await create({ name });
    expect(await found({ q: "batch" })).toEqual(["nightly BATCH", "Batch jobs"]);
    expect(await found({ q: "  atch j " })).toEqual(["Batch jobs"]);
    expect(await found({ q: "CAFE\u0301" })).toEqual(["Straße café"]);
    expect(await found({ q: "nothing of the kind" })).toEqual([]);
    expect(await found({ q: "%" })).toEqual([]);
  });

  test("finds a key by the last four characters of its secret, alone or as a list shows them", async () => {
    const made = await create({ name: "mine" });
    await create({ name: "another" });
    const end = made.secret.slice(-4);
    for (const q of [end, `…${end}`, `...${end}`, `svc-live-…${end}`])
      expect(await found({ q })).toEqual(["mine"]);
    // Three characters are no hint, and neither are those before the last four.
    expect(await found({ q: end.slice(1) })).toEqual([]);
    expect(await found({ q: made.secret.slice(-5, -1) })).toEqual([]);
  });

  test("takes what begins with key_ for the beginning of an id, in either case", async () => {
    const first = await create({ name: "first" });
    rig.clock.advance(50_000);
    const second = await create({ name: "key_ of the house" });
    expect(await found({ q: first.id })).toEqual(["first"]);
    expect(await found({ q: second.id.toLowerCase() })).toEqual(["key_ of the house"]);
    expect(await found({ q: second.id.slice(0, 14) })).toEqual(["key_ of the house"]);
    const soonAfter = await found({ q: first.id.slice(0, 9) });
    expect(soonAfter.slice(0, 2)).toEqual(["key_ of the house", "first"]);
    expect(await found({ q: "key_ of" })).toEqual(["key_ of the house"]);
    expect(await found({ q: "key_00000000000000000000000000" })).toEqual([]);
    // After a clock was set back, ids go on from the time before for a second.
    rig.clock.advance(-900);
    const late = await create({ name: "late" });
    expect(await found({ q: late.id })).toEqual(["late"]);
  });

  test("is of one project where that is asked, together with the other filters", async () => {
    const { id } = await rig.call("createProject", rig.owner, { body: { name: "Second", slug: "second" } });
    await create({ name: "job a", project_id: id });
    await create({ name: "job b" });
    const revoked = await create({ name: "job c", project_id: id });
    await rig.revoke(revoked.id);
    expect(await found({ q: "job", project_id: id })).toEqual(["job c", "job a"]);
    expect(await found({ q: "job", project_id: id, status: "active" })).toEqual(["job a"]);
    expect(await found({ project_id: "prj_of_nobody" })).toEqual([]);
  });

  test.each([[""], ["   "], ["x".repeat(101)]])("q=%j is refused", (q) => {
    expect(rig.ops.listKeys.query?.safeParse({ q }).success).toBe(false);
  });

  test("shows no key of another org", async () => {
    await addKey({ orgId: "org_other", name: "theirs" });
    const theirs = rowOf(await addKey({ orgId: "org_other", name: "theirs too" }));
    expect(await found({ q: "theirs" })).toEqual([]);
    expect(await found({ q: theirs.id })).toEqual([]);
  });
});
