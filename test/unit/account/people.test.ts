/** The list of owners and admins matches the members' rows, also in a folder of a release that had no such list. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { People } from "../../../src/account/people.ts";
import type { MemberRow } from "../../../src/account/person.ts";
import { ROLES } from "../../../src/account/roles.ts";
import { openStore } from "../../../src/store/store.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "weir-people-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const ORGS = ["org_1", "org_10", "org_2"];
const row = (orgId: string, user: number, role: MemberRow["role"]): MemberRow => ({
  orgId,
  userId: `usr_${user}`,
  role,
  addedAtMs: user,
  source: "invitation",
});
const step = fc.record({
  org: fc.constantFrom(...ORGS),
  user: fc.integer({ min: 0, max: 6 }),
  role: fc.option(fc.constantFrom(...ROLES)),
});

const scanned = (people: People, orgId: string, role: string) =>
  people.membersOf(orgId).filter((member) => member.role === role);
const listed = (people: People, orgId: string, role: "owner" | "admin") => [...people.withRole(orgId, role)];

function expectMatch(people: People): void {
  for (const org of ORGS) {
    for (const role of ["owner", "admin"] as const)
      expect(listed(people, org, role)).toEqual(scanned(people, org, role));
    expect(people.hasOwner(org)).toBe(scanned(people, org, "owner").length > 0);
  }
}

test("after any changes of roles, joins and leavings", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = openStore(folder());
      const people = new People(store);
      for (const { org, user, role } of steps)
        await store.act(() =>
          role === null
            ? people.removeMember({ orgId: org, userId: `usr_${user}` })
            : people.putMember(row(org, user, role)),
        );
      expectMatch(people);
      await store.close();
    }),
    { numRuns: 25 },
  );
});

test("where members were there before the list", async () => {
  const path = folder();
  const former = openStore(path);
  const members = former.table<MemberRow>("account.members");
  await former.act(() => {
    for (let user = 0; user < 1200; user++) {
      const orgId = ORGS[user % 3] as string;
      const made = row(orgId, user, ROLES[user % ROLES.length] as MemberRow["role"]);
      members.put([orgId, made.userId], made);
    }
  });
  await former.close();
  const store = openStore(path);
  const people = new People(store);
  await people.listAdministrators(store);
  expectMatch(people);
  expect(listed(people, "org_1", "owner").length).toBeGreaterThan(50);
  await store.close();
  const again = openStore(path);
  expectMatch(new People(again));
  await again.close();
});
