/** What 200 do at the same time: each act has the outcome that it would have alone, and a row of the audit for each effect. */
import { beforeEach, describe, expect, test } from "vitest";
import { eraseOrg } from "../../../src/account/erasure/erasure.ts";
import { invitedUser, type UserRow } from "../../../src/account/person.ts";
import { type Role, scopesOf } from "../../../src/account/roles.ts";
import type { AnyOperation, Caller } from "../../../src/base/operation/operation.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { ORIGIN } from "../../support/trail.fixtures.ts";
import { accountRig, failureKind } from "./fixtures.ts";

const rig = accountRig();
const { create } = rig;
const MANY = 200;

type Input = { path?: object; query?: object; body?: unknown };
type Answer = Readonly<Record<string, unknown>>;

/** Runs an operation as the edge does. */
async function run(name: keyof typeof rig.ops, by: Caller, { path, query, body }: Input = {}) {
  const op = rig.ops[name] as AnyOperation;
  const input = {
    params: op.params?.parse(path),
    query: op.query?.parse(query ?? {}),
    body: op.body?.parse(body),
  };
  return (await op.run(input as never, by, NO_HEAD)) as Answer;
}

/** How many ended how: `done`, or the kind of the error. */
async function outcomes(acts: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of await Promise.all(acts.map(failureKind))) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

const many = <T>(act: (i: number) => Promise<T>): Promise<T>[] =>
  Array.from({ length: MANY }, (_, i) => act(i));

const orgId = (): string => rig.owner.orgId;
const path = () => ({ org: orgId() });
const acts = (): Record<string, number> => counted(rig.trail.auditOf(orgId()).map(({ act }) => act));
const events = (): Record<string, number> => counted(rig.trail.eventsOf(orgId()).map(({ type }) => type));

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

let people = 0;
async function newPerson(role?: Role): Promise<UserRow> {
  const sub = `person-${++people}`;
  const made = invitedUser(`${sub}@example.com`, rig.clock.now());
  const user: UserRow = { ...made, iss: "test", sub, isEmailVerified: true, status: "active" };
  await rig.accounts.act(() => {
    rig.accounts.people.putUser(user);
    if (role !== undefined) {
      rig.accounts.people.putMember({
        orgId: orgId(),
        userId: user.id,
        role,
        addedAtMs: rig.clock.now(),
        source: "invitation",
      });
    }
  });
  return user;
}

const callerFor = ({ id }: UserRow, role: Role): Caller => ({
  requestId: "01J00000000000000000000000",
  actor: { kind: "person", id },
  origin: ORIGIN,
  orgId: orgId(),
  projectId: "",
  environment: "live",
  scopes: new Set(scopesOf(role)),
});

let owner: UserRow;
let byOwner: Caller;
beforeEach(async () => {
  owner = await newPerson("owner");
  byOwner = callerFor(owner, "owner");
});

const roles = (): Record<string, number> =>
  counted(rig.accounts.people.membersOf(orgId()).map(({ role }) => role));

describe("orgs", () => {
  test("of one slug: one is made", async () => {
    const makers = await Promise.all(many(() => newPerson()));
    const body = { slug: "acme", name: "Acme", billing_country: "US" };
    const made = many((i) => run("createOrg", callerFor(makers[i] as UserRow, "owner"), { body }));
    expect(await outcomes(made)).toEqual({ done: 1, slug_taken: MANY - 1 });
    const orgs = [...rig.accounts.orgsNewestFirst()].filter(({ slug }) => slug === "acme");
    expect(orgs).toHaveLength(1);
    const id = orgs[0]?.id ?? "";
    expect(rig.accounts.people.membersOf(id).map(({ role }) => role)).toEqual(["owner"]);
    expect(rig.accounts.projectsOf(id)).toHaveLength(1);
    expect(rig.trail.auditOf(id).map(({ act }) => act)).toEqual(["org.create"]);
  });

  test("of one person: as many as one may own", async () => {
    const maker = await newPerson();
    const made = many((i) =>
      run("createOrg", callerFor(maker, "owner"), {
        body: { slug: `acme-${i}`, name: "Acme", billing_country: "US" },
      }),
    );
    expect(await outcomes(made)).toEqual({ done: 5, plan_limit: MANY - 5 });
    expect(rig.accounts.people.membershipsOf(maker.id)).toHaveLength(5);
  });

  test("closed: once, with one ticket and one event", async () => {
    const slug = rig.accounts.org(orgId())?.slug;
    const closed = many(() => run("closeOrg", byOwner, { path: path(), body: { confirm: slug } }));
    expect(await outcomes(closed)).toEqual({ done: MANY });
    expect([acts(), events()]).toEqual([{ "org.close": 1 }, { "org.closed": 1 }]);
    const tickets = await run("listTickets", byOwner);
    expect(tickets.data).toMatchObject([{ kind: "close_org", status: "open" }]);
    expect(await failureKind(create())).toBe("org_closed");
  });
});

describe("members", () => {
  test("of one address: one is added, and one mail is sent", async () => {
    const added = many((i) =>
      run("addMember", byOwner, {
        path: path(),
        body: { email: i % 2 === 0 ? "Friend@Example.com" : "friend@example.com" },
      }),
    );
    expect(await outcomes(added)).toEqual({ done: 1, state: MANY - 1 });
    expect(roles()).toEqual({ owner: 1, member: 1 });
    expect([acts(), events()]).toEqual([{ "member.add": 1 }, { "member.added": 1 }]);
    expect(rig.mails).toHaveLength(1);
  });

  test("of many addresses: fifty a day", async () => {
    const added = many((i) =>
      run("addMember", byOwner, { path: path(), body: { email: `friend-${i}@example.com` } }),
    );
    expect(await outcomes(added)).toEqual({ done: 50, plan_limit: MANY - 50 });
    expect([roles(), acts()]).toEqual([{ owner: 1, member: 50 }, { "member.add": 50 }]);
    expect(rig.mails).toHaveLength(50);
  });

  test("removed: once", async () => {
    const { id } = await newPerson("member");
    const removed = many(() => run("removeMember", byOwner, { path: { ...path(), user: id } }));
    expect(await outcomes(removed)).toEqual({ done: 1, not_found: MANY - 1 });
    expect([acts(), events()]).toEqual([{ "member.remove": 1 }, { "member.removed": 1 }]);
  });

  test.each([2, MANY])("where all %i owners leave: one stays", async (number) => {
    const owners = [owner];
    while (owners.length < number) owners.push(await newPerson("owner"));
    const left = owners.map((user) =>
      run("removeMember", callerFor(user, "owner"), { path: { ...path(), user: user.id } }),
    );
    expect(await outcomes(left)).toEqual({ done: number - 1, last_owner: 1 });
    expect(roles()).toEqual({ owner: 1 });
    expect([acts(), events()]).toEqual([{ "member.remove": number - 1 }, { "member.removed": number - 1 }]);
  });

  test("where two owners demote each other, or leave: one stays an owner", async () => {
    const other = await newPerson("owner");
    const demote = (by: UserRow, user: UserRow) =>
      run("updateMember", callerFor(by, "owner"), {
        path: { ...path(), user: user.id },
        body: { role: "viewer" },
      });
    const all = await outcomes(many((i) => (i % 2 === 0 ? demote(owner, other) : demote(other, owner))));
    expect(all.done).toBeGreaterThan(0);
    expect(roles()).toEqual({ owner: 1, viewer: 1 });
    expect(acts()).toEqual({ "member.update": 1 });
  });
});

describe("keys", () => {
  test("of a plan: as many as it allows", async () => {
    const before = rig.accounts.workingKeys(orgId(), rig.clock.now()).length;
    rig.plan = { ...rig.plan, keys: 20 };
    const made = many(() => create({ name: "k" }));
    expect(await outcomes(made)).toEqual({ done: 20 - before, plan_limit: MANY - 20 + before });
    expect(rig.accounts.workingKeys(orgId(), rig.clock.now())).toHaveLength(20);
    expect([acts(), events()]).toEqual([{ "key.create": 20 - before }, { "key.created": 20 - before }]);
  });

  test("rotated and revoked: one effect each", async () => {
    const [one, two] = [await create(), await create()];
    const rotated = many(() => rig.rotate(one.id, {}));
    expect(await outcomes(rotated)).toEqual({ done: 1, state: MANY - 1 });
    expect(await outcomes(many(() => rig.revoke(two.id)))).toEqual({ done: MANY });
    expect(acts()).toEqual({ "key.create": 2, "key.rotate": 1, "key.revoke": 1 });
    expect(events()).toEqual({ "key.created": 2, "key.rotated": 1, "key.revoked": 1 });
  });

  test("that ask for a limit: it is raised once, with one ticket, and no row without its effect", async () => {
    const { id } = await create();
    const asked = many(() => run("requestLimits", byOwner, { body: { key_id: id, rpm: 100 } }));
    expect(await outcomes(asked)).toEqual({ done: 1, invalid_value: MANY - 1 });
    expect(rig.accounts.key(id)?.limits.rpm).toBe(100);
    expect(acts()).toEqual({ "key.create": 1, "ticket.create": 1, "key.raise_limit": 1 });
    expect(events()).toEqual({ "key.created": 1, "limits.changed": 1, "ticket.decided": 1 });
  });

  test("that ask for different limits: none is lowered, and each raise is told", async () => {
    const { id } = await create();
    // The plan gives 60 and approves 120.
    const asked = await outcomes(
      many((i) => run("requestLimits", byOwner, { body: { key_id: id, rpm: 61 + ((i * 37) % 60) } })),
    );
    expect(rig.accounts.key(id)?.limits.rpm).toBe(120);
    const raised = rig.trail
      .auditOf(orgId())
      .filter(({ act }) => act === "key.raise_limit")
      .map(({ changes: [limits] }) => (limits as { after: { rpm: number } }).after.rpm)
      .reverse();
    expect(raised).toHaveLength(asked.done ?? 0);
    expect(raised).toEqual([...raised].sort((a, b) => a - b));
    expect(events()["limits.changed"]).toBe(asked.done);
  });

  test("that ask for more than may be approved: as many tickets as an org may have open", async () => {
    const { id } = await create();
    const asked = many(() => run("requestLimits", byOwner, { body: { key_id: id, rpm: 1000 } }));
    expect(await outcomes(asked)).toEqual({ done: 100, plan_limit: MANY - 100 });
    expect(rig.accounts.key(id)?.limits.rpm).toBeUndefined();
    expect(acts()).toEqual({ "key.create": 1, "ticket.create": 100 });
  });
});

describe("erasure and transfer", () => {
  const isDue = () => rig.trail.jobs.has(eraseOrg, orgId());

  test("asked for: once, with one job", async () => {
    expect(await outcomes(many(() => run("requestErasure", byOwner, { path: path() })))).toEqual({
      done: MANY,
    });
    expect([acts(), events(), isDue()]).toEqual([
      { "org.request_erasure": 1 },
      { "erasure.requested": 1 },
      true,
    ]);
  });

  test("asked for and cancelled: the job is there where the date is, and every change is told", async () => {
    const done = many((i) =>
      run(i % 3 === 0 ? "cancelErasure" : "requestErasure", byOwner, { path: path() }),
    );
    expect(await outcomes(done)).toEqual({ done: MANY });
    const { "org.request_erasure": asked = 0, "org.cancel_erasure": cancelled = 0 } = acts();
    const isAsked = rig.accounts.org(orgId())?.erasureDueAtMs !== null;
    expect(isDue()).toBe(isAsked);
    expect(asked - cancelled).toBe(isAsked ? 1 : 0);
    expect(events()["erasure.requested"]).toBe(asked);
    await run("cancelErasure", byOwner, { path: path() });
    expect([isDue(), rig.accounts.org(orgId())?.erasureDueAtMs]).toEqual([false, null]);
  });

  test("of the org to 200 members: one is the owner, and the one before an admin", async () => {
    const heirs = await Promise.all(many(() => newPerson("member")));
    const moved = many((i) => run("transferOrg", byOwner, { path: path(), body: { user_id: heirs[i]?.id } }));
    expect(await outcomes(moved)).toEqual({ done: 1, not_found: MANY - 1 });
    expect(roles()).toEqual({ owner: 1, admin: 1, member: MANY - 1 });
    expect(rig.accounts.people.member(orgId(), owner.id)?.role).toBe("admin");
    expect(acts()).toEqual({ "org.transfer": 1 });
  });
});

test("what happened at once is in the audit in one order, each row by who did it", async () => {
  const other = await newPerson("admin");
  const byOther = callerFor(other, "admin");
  const made = many((i) => run("createTicket", i % 2 === 0 ? byOwner : byOther, { body: { subject: "?" } }));
  expect(await outcomes(made)).toEqual({ done: 100, plan_limit: MANY - 100 });
  const rows = rig.trail.auditOf(orgId());
  expect(rows).toHaveLength(100);
  expect(new Set(rows.map(({ target }) => target)).size).toBe(100);
  expect(counted(rows.map(({ actor }) => actor.id))).toEqual({ [owner.id]: 50, [other.id]: 50 });
});
