/** Tickets, and requests for higher limits. */
import { expect, test } from "vitest";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { accountRig, failure } from "../fixtures.ts";

const rig = accountRig();

interface Requested {
  status: string;
  applied: { rpm: number; tpm: number; concurrency: number };
  ticket: { id: string; kind: string; created_by: string; body: object };
}
const ask = (by: Caller, keyId: string, rpm: number) =>
  rig.call<Requested>("requestLimits", by, { body: { key_id: keyId, rpm, reason: "a launch" } });

test("a request within the plan's multiple is approved at once and in force", async () => {
  const member = await rig.person("member");
  const key = await rig.create({ project_id: rig.owner.projectId }, member);
  const asked = await ask(member, key.id, 120);
  expect(asked).toMatchObject({
    status: "approved",
    applied: { rpm: 120, tpm: 10_000, concurrency: 5 },
    ticket: {
      kind: "limit_increase",
      status: "approved",
      created_by: "member@example.com",
      body: { key_id: key.id, rpm: 120, reason: "a launch" },
    },
  });
  expect(rig.keyring.resolve(key.secret).limits.rpm).toBe(120);
  expect(rig.trail.eventsOf(member.orgId).map(({ type }) => type)).toEqual([
    "ticket.decided",
    "limits.changed",
    "key.created",
  ]);
  // A granted limit can be lowered and set again; more must be asked for.
  expect((await rig.patch(key.id, { limits: { rpm: 90 } })).limits).toEqual({ rpm: 90 });
  expect(await failure(rig.patch(key.id, { limits: { rpm: 121 } }))).toBe("invalid_value /limits/rpm");
});

test("a larger one waits for the operator and changes nothing", async () => {
  const key = await rig.create();
  const asked = await ask(rig.owner, key.id, 121);
  expect([asked.status, asked.applied.rpm]).toEqual(["open", 60]);
  expect(rig.keyring.resolve(key.secret).limits.rpm).toBe(60);
  expect(asked.ticket.created_by).toBe("");
});

test("what cannot be granted is refused", async () => {
  const key = await rig.create();
  expect(await failure(ask(rig.owner, key.id, 60))).toBe("invalid_value /rpm");
  expect(await failure(ask(rig.owner, "key_other", 100))).toBe("invalid_value /key_id");
  await rig.revoke(key.id);
  expect(await failure(ask(rig.owner, key.id, 100))).toBe("state /key_id");
  const tester = rig.caller(await rig.addKey({ environment: "live", scopes: ["write:keys"] }));
  expect(await failure(ask({ ...tester, environment: "test" }, rig.owner.actor.id, 100))).toBe("scope");
});

test("C4: on a plan without limits any request for a limited key is approved, and a key without a limit asks in vain", async () => {
  rig.plan = { ...rig.plan, rpm: 0 };
  const limited = await rig.create({ limits: { rpm: 90 } });
  expect(await ask(rig.owner, limited.id, 1_000_000)).toMatchObject({
    status: "approved",
    applied: { rpm: 1_000_000 },
  });
  // A request would be its first limit.
  const unlimited = await rig.create();
  expect(await failure(ask(rig.owner, unlimited.id, 100))).toBe("invalid_value /rpm");
  expect(rig.keyring.resolve(unlimited.secret).limits.rpm).toBe(0);
});

test("of 200 requests for one key at once each rises above the last, or is refused", async () => {
  const key = await rig.create();
  const outcomes = await Promise.all(Array.from({ length: 200 }, () => failure(ask(rig.owner, key.id, 100))));
  expect(outcomes.filter((o) => o === "done")).toHaveLength(1);
  expect(outcomes.filter((o) => o === "invalid_value /rpm")).toHaveLength(199);
});

test("tickets are listed newest first, by kind, and belong to one org", async () => {
  const make = (subject: string) =>
    rig.call<{ id: string }>("createTicket", rig.owner, { body: { subject, message: "Please." } });
  const first = await make("One");
  // Later than other clocks of this process may be: ids go on from the newest that is up to a second ahead.
  rig.clock.advance(2000);
  const second = await make("Two");
  // An id says when it was made: where the order is another, it tells whether ids or rows are at fault.
  expect([first.id, second.id].sort()).toEqual([first.id, second.id]);
  const key = await rig.create();
  await ask(rig.owner, key.id, 500);
  const list = async (query: object) =>
    (await rig.call<{ data: { subject: string }[] }>("listTickets", rig.owner, { query })).data.map(
      (t) => t.subject,
    );
  expect(await list({ kind: "other" })).toEqual(["Two", "One"]);
  expect(await list({})).toHaveLength(3);
  const requests = await rig.call<{ data: object[] }>("listLimitRequests", rig.owner);
  expect(requests.data).toHaveLength(1);
  expect(await rig.call("getTicket", rig.owner, { id: first.id })).toEqual(first);
  const stranger = await rig.person("owner", { orgId: "org_other" });
  expect(await failure(rig.call("getTicket", stranger, { id: first.id }))).toBe("not_found");
});

test("an org may have a hundred open at once", async () => {
  const make = () => rig.call("createTicket", rig.owner, { body: { subject: "Again" } });
  for (let i = 0; i < 100; i++) await make();
  expect(await failure(make())).toBe("plan_limit");
});

test("C9: a raised limit is the lineage's", async () => {
  const old = await rig.create();
  const fresh = await rig.rotate(old.id, { grace_seconds: 60 });
  expect((await ask(rig.owner, old.id, 120)).status).toBe("approved");
  for (const { secret } of [old, fresh]) expect(rig.keyring.resolve(secret).limits.rpm).toBe(120);
});
