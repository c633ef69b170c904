/** Groups over a real store: who is in them, entity tags, changes at the same time, and filters on members. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { namedMembers } from "../../../../src/account/scim/patch/patched-members.ts";
import { directoryRig, type Resource, type Rig } from "./directory.fixtures.ts";
import { refusalOf } from "./fixtures.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await directoryRig();
});
afterEach(() => rig.close());

interface List {
  readonly totalResults: number;
  readonly Resources: readonly Resource[];
}

const add = (...ids: string[]) => ({ op: "add", path: "members", value: ids.map((value) => ({ value })) });
const membersOf = async (id: string): Promise<string[]> => {
  const { members = [] } = await rig.call("scimGetGroup", { id });
  return (members as { value: string }[]).map(({ value }) => value);
};
const users = (count: number) =>
  Promise.all(Array.from({ length: count }, async (_, i) => (await rig.createUser(`u${i}@example.com`)).id));

describe("members", () => {
  test("are added and removed in any number, and counted", async () => {
    const ids = await users(80);
    const { id } = await rig.createGroup("Everybody", ids.slice(0, 70));
    expect((await membersOf(id)).sort()).toEqual(ids.slice(0, 70).sort());
    await rig.patchGroup(id, add(...ids), add(...ids));
    expect(rig.tables.group(rig.one, id)?.memberCount).toBe(80);
    await rig.patchGroup(id, { op: "remove", path: `members[value eq "${ids[0]}"]` });
    await rig.call("scimDeleteUser", { id: ids[1] as string });
    expect(rig.tables.group(rig.one, id)?.memberCount).toBe(78);
    await rig.patchGroup(id, { op: "replace", path: "members", value: [{ value: ids[5] }] });
    expect(await membersOf(id)).toEqual([ids[5]]);
    await rig.patchGroup(id, { op: "remove", path: "members" });
    expect([await membersOf(id), rig.tables.user(rig.one, ids[5] as string)?.groupIds]).toEqual([[], []]);
  });

  test("that are no users of the directory change nothing", async () => {
    const [mine] = await users(1);
    const theirs = await rig.createUser("x@example.com", {}, rig.two);
    const { id } = await rig.createGroup("Sales");
    for (const ids of [[mine as string, theirs.id], ["nobody"]]) {
      expect(await refusalOf(rig.patchGroup(id, add(...ids)))).toBe("400 invalidValue");
    }
    expect(await membersOf(id)).toEqual([]);
  });

  test("that are added at the same time are all there", async () => {
    const ids = await users(40);
    const { id } = await rig.createGroup("Sales");
    await Promise.all(ids.map((one) => rig.patchGroup(id, add(one))));
    expect((await membersOf(id)).sort()).toEqual([...ids].sort());
    expect(rig.tables.group(rig.one, id)?.memberCount).toBe(40);
  });

  test("do not get lost when the group is renamed at the same time", async () => {
    const ids = await users(10);
    const { id } = await rig.createGroup("Sales");
    const rename = { op: "replace", path: "displayName", value: "Selling" };
    await Promise.all([...ids.map((one) => rig.patchGroup(id, add(one))), rig.patchGroup(id, rename)]);
    expect([rig.tables.group(rig.one, id)?.attributes.displayName, (await membersOf(id)).length]).toEqual([
      "Selling",
      10,
    ]);
  });

  test.each([
    [[{ op: "add", path: "members", value: [{ value: "a" }, "b"] }], ["a", "b"]],
    [[{ op: "remove", path: 'Members[ value EQ "a" ]' }], ["a"]],
    [
      [{ op: "remove", path: "urn:ietf:params:scim:schemas:core:2.0:Group:members", value: { value: "a" } }],
      ["a"],
    ],
    [[{ op: "add", value: { displayName: "x", Members: [{ value: "a" }] } }], ["a"]],
    [[{ op: "replace", value: { displayName: "x" } }], []],
    [[{ op: "replace", path: "displayName", value: "members" }], []],
    [[{ op: "remove", path: "members" }], undefined],
    [[{ op: "replace", path: "members", value: [] }], undefined],
    [[{ op: "replace", value: { members: [] } }], undefined],
    [[{ op: "remove", path: 'members[value co "a"]' }], undefined],
    [[{ op: "remove", path: 'members[value eq "a" or value eq "b"]' }], undefined],
    [[{ op: "remove", path: "members.value" }], undefined],
  ] as const)("%j looks at the members %j", (operations, named) => {
    expect(namedMembers(operations)).toEqual(named);
  });
});

describe("filters", () => {
  const count = async (filter: string) =>
    (await rig.call<List>("scimListGroups", { query: { filter } })).totalResults;

  test("on members read those that are asked for, or all", async () => {
    const [a, b] = (await users(2)) as [string, string];
    const group = await rig.createGroup("Sales", [a]);
    await rig.createGroup("Empty");
    expect(await count(`id eq "${group.id}" and members eq "${a}"`)).toBe(1);
    expect(await count(`members eq "${b}"`)).toBe(0);
    expect(await count(`members[value eq "${a}"]`)).toBe(1);
    expect(await count(`not (members[value eq "${a}"])`)).toBe(1);
    expect(await count(`members[not (value eq "${b}")]`)).toBe(1);
    expect(await count("members pr")).toBe(1);
    expect(await count(`members.value ne "${b}"`)).toBe(2);
  });

  test("by displayName find it in any case, also of several groups", async () => {
    await rig.createGroup("Sales");
    await rig.createGroup("SALES");
    expect(await count('displayName eq "sales"')).toBe(2);
    expect(await count('displayName eq "sales" and externalId pr')).toBe(0);
  });
});

test("an entity tag changes with the group and stays without a change", async () => {
  const [a] = (await users(1)) as [string];
  const { id } = await rig.createGroup("Sales");
  const version = () => rig.tables.group(rig.one, id)?.version;
  await rig.patchGroup(id, add(a));
  expect(version()).toBe(2);
  await rig.patchGroup(id, add(a), { op: "replace", path: "displayName", value: "Sales" });
  expect(version()).toBe(2);
});

test("what an org's directory holds can be erased, in parts", async () => {
  const ids = await users(5);
  await rig.createGroup("Sales", ids);
  await rig.createUser("x@example.com", {}, rig.two);
  let parts = 1;
  while (await rig.accounts.act(() => rig.tables.erase(rig.one, 2))) parts++;
  expect(parts).toBe(4);
  expect([rig.tables.counts(rig.one), rig.tables.counts(rig.two)]).toEqual([
    { users: 0, groups: 0 },
    { users: 1, groups: 0 },
  ]);
  expect(rig.tables.userByName(rig.one, "u0@example.com")).toBeUndefined();
});
