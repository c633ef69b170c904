/** Long work lets the process do other work: what is done in one turn of the event loop is counted, not timed. */
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { project } from "../../../../src/account/scim/attributes.ts";
import { readingGroup } from "../../../../src/account/scim/body.ts";
import { type Listed, list } from "../../../../src/account/scim/filtered-list.ts";
import { applyPatch, patching } from "../../../../src/account/scim/patch/patch.ts";
import { GROUP, MAX_MEMBERS, USER } from "../../../../src/account/scim/schema.ts";
import { inSlices, Pace, STEPS_AT_ONCE } from "../../../../src/account/scim/slices.ts";
import { Steps } from "../../../../src/account/scim/steps.ts";
import type { FullAnswer } from "../../../../src/base/operation/answer.ts";
import { directoryRig, type Resource, type Rig } from "./directory.fixtures.ts";
import { group, op, readGroupBody } from "./fixtures.ts";

/** What the act came to, and the most that the count rose by in one turn. */
async function perTurn<T>(count: () => number, act: () => T | Promise<T>) {
  let [isOver, most] = [false, 0];
  let before = count();
  const look = () => {
    most = Math.max(most, count() - before);
    before = count();
  };
  const work = Promise.resolve(act()).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    look();
    await setImmediate();
  }
  look();
  return { result: await work, most };
}

describe("a list of 10,000 users", () => {
  interface Row {
    readonly id: string;
    readonly userName: string;
  }
  const rows = Array.from({ length: 10_000 }, (_, i): Row => {
    const id = `u${String(i).padStart(5, "0")}`;
    return { id, userName: `${id}@example.com` };
  });
  let touched = 0;
  const listed: Listed<Row> = {
    schema: USER,
    total: rows.length,
    indexed: () => undefined,
    *after(id = "") {
      for (let at = rows.findIndex((row) => row.id > id); at >= 0 && at < rows.length; at++) {
        touched++;
        yield rows[at] as Row;
      }
    },
    forFilter: (row) => row,
    shown(row, projection) {
      touched++;
      return Buffer.from(JSON.stringify(project(USER, projection, row)));
    },
    cost: () => 100,
  };
  const asked = (query: object) =>
    perTurn(
      () => touched,
      () => list(listed, query),
    );
  const bodyOf = ({ content }: FullAnswer<never>) => JSON.parse(String(content.bytes?.body));

  test("with a filter that no index knows reads few rows in a turn", async () => {
    const { result, most } = await asked({ filter: 'userName co "999"', count: "200" });
    const ids = rows.filter(({ userName }) => userName.includes("999")).map(({ id }) => id);
    expect(bodyOf(result)).toMatchObject({ totalResults: ids.length, itemsPerPage: ids.length });
    expect(bodyOf(result).Resources.map(({ id }: Row) => id)).toEqual(ids);
    expect(most).toBeLessThanOrEqual(50);
  });

  test("whose filter has many parts reads still fewer", async () => {
    const parts = Array.from({ length: 130 }, (_, i) => `userName eq "${i}"`);
    let taken = 0;
    const few: Listed<Row> = {
      ...listed,
      after: (id) => (id === undefined ? rows.slice(0, 25) : []),
      forFilter(row) {
        taken++;
        return row;
      },
    };
    const { most } = await perTurn(
      () => taken,
      () => list(few, { filter: parts.join(" or ") }),
    );
    expect([taken, most <= 12]).toEqual([25, true]);
  });

  test("shows few of a page in a turn, wherever the page is", async () => {
    for (const [startIndex, first] of [
      ["1", "u00000"],
      ["9801", "u09800"],
    ]) {
      const { result, most } = await asked({ startIndex, count: "200" });
      const { itemsPerPage, Resources } = bodyOf(result);
      expect([itemsPerPage, Resources[0].id]).toEqual([200, first]);
      expect(most).toBeLessThanOrEqual(50);
    }
  });
});

describe("a group of 10,000 members", () => {
  const ids = Array.from({ length: MAX_MEMBERS }, (_, i) => `scu_${i}`);
  const before = group(...ids);

  test.each([
    ["a filter that no index knows", op("remove", 'members[value co "9"]')],
    [
      "a long list",
      op(
        "remove",
        "members",
        ids.slice(0, 3000).map((value) => ({ value })),
      ),
    ],
    [
      "another list",
      op(
        "replace",
        "members",
        ids.slice(3000).map((value) => ({ value })),
      ),
    ],
  ])("is patched by %s in slices, to the same end", async (_, operation) => {
    const steps = new Steps();
    const act = () => inSlices(patching(GROUP, before, [operation], steps), steps, new Pace());
    const { result, most } = await perTurn(() => steps.taken, act);
    expect(result).toEqual(applyPatch(GROUP, before, [operation]));
    // The members themselves are taken at once.
    expect(most).toBeLessThan(2 * MAX_MEMBERS + STEPS_AT_ONCE + 100);
    expect(steps.taken).toBeGreaterThan(2 * most);
  });

  test("is read from a body in slices", async () => {
    const steps = new Steps();
    const body = { displayName: "All", members: ids.map((value) => ({ value })) };
    const act = () => inSlices(readingGroup(body, steps), steps, new Pace());
    const { result, most } = await perTurn(() => steps.taken, act);
    expect(result).toEqual(readGroupBody(body));
    expect(most).toBeLessThan(STEPS_AT_ONCE + 100);
  });
});

describe("over a store", () => {
  let rig: Rig;
  let ids: string[];
  beforeAll(async () => {
    rig = await directoryRig();
    ids = [];
    for (let i = 0; i < 120; i++) ids.push((await rig.createUser(`user${i}@example.com`)).id);
  });
  afterAll(() => rig.close());

  interface Page {
    readonly totalResults: number;
    readonly Resources: readonly Resource[];
  }

  test("users that go and come while a list is read neither break it nor are told of twice", async () => {
    const filter = 'displayName pr or userName co "user"';
    const listing = rig.call<Page>("scimListUsers", { query: { filter, count: "200" } });
    const gone = [0, 24, 25, 49, 50, 51, 99, 119].map((at) => ids[at] as string);
    for (const [at, id] of gone.entries()) {
      await rig.call("scimDeleteUser", { id });
      await rig.createUser(`user-new${at}@example.com`);
    }
    const { Resources } = await listing;
    const listed = Resources.map(({ id }) => id);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed).toEqual(expect.arrayContaining(ids.filter((id) => !gone.includes(id))));
  });

  test("an equality on userName or externalId reads what it finds and walks over nothing", async () => {
    await rig.createUser("found@example.com", { externalId: "e1" });
    const whole = rig.tables.usersAfter;
    let walks = 0;
    rig.tables.usersAfter = (...args) => {
      walks++;
      return whole.apply(rig.tables, args);
    };
    const count = async (filter: string) =>
      (await rig.call<Page>("scimListUsers", { query: { filter } })).totalResults;
    expect(await count('userName eq "FOUND@example.com"')).toBe(1);
    expect(await count('externalId eq "e1"')).toBe(1);
    expect(await count('externalId eq "e1" and active eq true')).toBe(1);
    expect([await count('userName eq "nobody"'), walks]).toEqual([0, 0]);
    expect([await count('userName co "found"'), walks > 0]).toEqual([1, true]);
    rig.tables.usersAfter = whole;
  });

  test("a large group is written in slices, with what is asked for of each member", async () => {
    const { id } = await rig.createGroup("Large");
    const many = Array.from({ length: 1100 }, (_, i) => `scu_${String(i).padStart(4, "0")}`);
    await rig.accounts.act(() => {
      for (const userId of many) rig.tables.putMember(rig.one, id, userId);
    });
    const whole = rig.tables.membersAfter;
    let read = 0;
    rig.tables.membersAfter = (...args) => {
      const slice = whole.apply(rig.tables, args);
      read += slice.length;
      return slice;
    };
    const get = (query: object) =>
      perTurn(
        () => read,
        () => rig.call("scimGetGroup", { id, query }),
      );
    const { result, most } = await get({});
    rig.tables.membersAfter = whole;
    expect(most).toBeLessThanOrEqual(250);
    const location = (userId: string) => `https://weir.example/scim/v2/Users/${userId}`;
    expect(result.members).toEqual(many.map((value) => ({ value, $ref: location(value), type: "User" })));
    expect((await get({ attributes: "members.value" })).result).toEqual({
      schemas: [GROUP.id],
      id,
      members: many.map((value) => ({ value })),
    });
    const { result: bare } = await get({ excludedAttributes: "members,meta" });
    expect(bare).toEqual({ schemas: [GROUP.id], id, displayName: "Large" });
  });
});
