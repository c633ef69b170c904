/** Events and the audit: there exactly if the act is, listed newest first, forgotten in time. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { AnyOperation, Caller } from "../../../../src/base/operation/operation.ts";
import { DAY_MS } from "../../../../src/base/time.ts";
import { changesBetween } from "../../../../src/store/events/audit.ts";
import { Events } from "../../../../src/store/events/events.ts";
import { eventOperations } from "../../../../src/store/events/operations.ts";
import { EVENT_NAMES, eventType } from "../../../../src/store/events/types.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { ORIGIN, type TestTrail, trailOn } from "../../../support/trail.fixtures.ts";

const revoked = eventType("key.revoked", z.object({ id: z.string() }));
const webhookTest = eventType("webhook.test", z.object({ id: z.string() }));
const caller: Caller = {
  requestId: "01J00000000000000000000000",
  actor: { kind: "key", id: "key_1" },
  origin: ORIGIN,
  orgId: "org_1",
  projectId: "",
  environment: "live",
  scopes: new Set(),
};

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
let trail: TestTrail;
beforeEach(() => {
  disk = tempStore();
  clock = new ManualClock("2026-09-09T00:00:00.000Z");
  trail = trailOn(disk.store, clock);
});
afterEach(async () => {
  trail.close();
  await disk.dispose();
});

const emit = (id: string, orgId = "org_1") => disk.store.act(() => trail.events.emit(revoked, orgId, { id }));

async function list(name: "listEvents" | "listAudit", query: object = {}) {
  const op = eventOperations({ ...trail, cursors: cursors(Buffer.alloc(32, 1)) })[name] as AnyOperation;
  const answer = await op.run(
    { params: undefined, query: op.query?.parse(query) as undefined, body: undefined },
    caller,
    NO_HEAD,
  );
  return op.output.parse(answer) as { data: Record<string, unknown>[]; next_cursor: string };
}

async function read(id: string, orgId = "org_1"): Promise<unknown> {
  const op = eventOperations({ ...trail, cursors: cursors(Buffer.alloc(32, 1)) }).getEvent as AnyOperation;
  const input = { params: op.params?.parse({ id }) as undefined, query: undefined, body: undefined };
  return op.output.parse(await op.run(input, { ...caller, orgId }, NO_HEAD));
}

describe("an event", () => {
  test("is there if its act is, and not otherwise", async () => {
    await emit("key_1");
    const dropped = disk.store.act(() => {
      trail.events.emit(revoked, "org_1", { id: "key_2" });
      throw new Error("no");
    });
    await expect(dropped).rejects.toThrow("no");
    expect(trail.eventsOf("org_1").map(({ data }) => data)).toEqual([{ id: "key_1" }]);
  });

  test("holds what its type promises and nothing else; other data fails the act", async () => {
    const given = { id: "key_1", secret: "hunter2" };
    await disk.store.act(() => trail.events.emit(revoked, "org_1", given));
    expect(trail.eventsOf("org_1")[0]?.data).toEqual({ id: "key_1" });
    const wrong = disk.store.act(() => trail.events.emit(revoked, "org_1", { id: 1 } as never));
    await expect(wrong).rejects.toThrow("expected string");
  });

  test("calls listeners in its act: what they put is dropped with it", async () => {
    const seen = disk.store.table<string>("test.seen");
    trail.events.listen(({ id, type }) => seen.put(id, type));
    await emit("key_1");
    const dropped = disk.store.act(() => {
      trail.events.emit(revoked, "org_1", { id: "key_2" });
      throw new Error("no");
    });
    await expect(dropped).rejects.toThrow();
    expect([...seen.range()].map(({ value }) => value)).toEqual(["key.revoked"]);
  });

  test("is there, and its change, though a listener throws: that is reported and the others are called", async () => {
    const failures: string[] = [];
    const onFailure = (error: unknown, what: string) => void failures.push(`${what}: ${error}`);
    const events = new Events({ store: disk.store, clock, onFailure });
    const seen = disk.store.table<string>("test.seen");
    events.listen(() => {
      throw new Error("the listener is broken");
    });
    events.listen(({ type }) => seen.put("told", type));
    await disk.store.act(() => {
      seen.put("changed", "yes");
      events.emit(revoked, "org_1", { id: "key_1" });
    });
    events.close();
    expect([seen.get("changed"), seen.get("told")]).toEqual(["yes", "key.revoked"]);
    const [event] = trail.eventsOf("org_1");
    // The store of tests runs each act twice.
    expect(failures.at(-1)).toBe(
      `what follows from the event ${event?.id} (key.revoked) was not put in full: Error: the listener is broken`,
    );
  });

  test("is listed for its org only, newest first, each once over pages while others come", async () => {
    for (let i = 0; i < 25; i++) await emit(`key_${i}`);
    await emit("key_x", "org_2");
    const ids: unknown[] = [];
    let cursor = "";
    do {
      const page = await list("listEvents", { limit: "10", cursor });
      for (const { data } of page.data) ids.push((data as { id: string }).id);
      cursor = page.next_cursor;
      await emit("key_late");
    } while (cursor !== "");
    expect(ids).toEqual(Array.from({ length: 25 }, (_, i) => `key_${24 - i}`));
    expect((await list("listEvents", { type: "org.closed" })).data).toEqual([]);
  });

  test("is filtered by types, by what it tells of, and by time", async () => {
    const closed = eventType("org.closed", z.object({ id: z.string(), by: z.string() }));
    await emit("key_1");
    clock.advance(1000);
    await emit("key_2");
    clock.advance(1000);
    await disk.store.act(() => trail.events.emit(closed, "org_1", { id: "org_1", by: "key_1" }));
    await disk.store.act(() => trail.events.emit(webhookTest, "org_1", { id: "whk_1" }));
    const told = async (query: object) =>
      (await list("listEvents", query)).data.map(({ data }) => (data as { id: string }).id);
    expect(await told({ type: "key.revoked" })).toEqual(["key_2", "key_1"]);
    expect(await told({ type: ["key.revoked", "webhook.test"] })).toEqual(["whk_1", "key_2", "key_1"]);
    expect(await told({ target: "key_1" })).toEqual(["org_1", "key_1"]);
    expect(await told({ target: "key_1", type: "key.revoked" })).toEqual(["key_1"]);
    expect(await told({ since: "2026-09-09T00:00:01Z", until: "2026-09-09T00:00:02Z" })).toEqual(["key_2"]);
    expect(await told({ since: "2026-09-09T02:00:02+02:00" })).toEqual(["whk_1", "org_1"]);
    await expect(told({ type: ["key.revoked", "key.lost"] })).rejects.toThrow();
  });

  test("of another time is not read for a page of a span, whatever the clock did", async () => {
    for (let i = 0; i < 30; i++) {
      await emit(`key_${i}`);
      // Set back by less than a second: ids keep the later instant.
      clock.advance(i % 3 === 2 ? -600 : 1000);
    }
    const all = trail.eventsOf("org_1");
    const [since, until] = [all[20]?.createdAtMs ?? 0, all[10]?.createdAtMs ?? 0];
    const isIn = ({ createdAtMs }: { createdAtMs: number }) => createdAtMs >= since && createdAtMs < until;
    const found = [...trail.events.within("org_1", { since, until })];
    expect(found).toEqual(all.filter(isIn));
    const [, second] = found;
    expect([...trail.events.within("org_1", { since, until }, second?.id)]).toEqual(found.slice(2));
    expect([...trail.events.within("org_1", {})]).toEqual(all);
  });

  test("is read by its id, in its org and its time only", async () => {
    await emit("key_1");
    const [event] = (await list("listEvents")).data;
    const id = event?.id as string;
    expect(await read(id)).toEqual(event);
    await expect(read(id, "org_2")).rejects.toMatchObject({ kind: "not_found" });
    await expect(read("evt_unknown")).rejects.toMatchObject({ kind: "not_found" });
    clock.advance(32 * DAY_MS);
    await trail.events.sweep();
    await expect(read(id)).rejects.toMatchObject({ kind: "not_found" });
  });

  test("is forgotten after 30 days", async () => {
    await emit("key_1");
    clock.advance(15 * DAY_MS);
    await emit("key_2");
    clock.advance(17 * DAY_MS);
    await trail.events.sweep();
    expect(trail.eventsOf("org_1").map(({ data }) => data)).toEqual([{ id: "key_2" }]);
  });

  test("can be erased with its org, a slice at a time", async () => {
    for (let i = 0; i < 5; i++) await emit(`key_${i}`);
    await emit("key_x", "org_2");
    expect(await disk.store.act(() => trail.events.erase("org_1", 3))).toBe(true);
    expect(await disk.store.act(() => trail.events.erase("org_1", 3))).toBe(false);
    expect([trail.eventsOf("org_1").length, trail.eventsOf("org_2").length]).toEqual([0, 1]);
  });

  test("every type has one name of two parts", () => {
    for (const name of EVENT_NAMES) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/);
    expect(new Set(EVENT_NAMES).size).toBe(EVENT_NAMES.length);
  });
});

describe("the audit", () => {
  const note = (act: string, target: string, before?: object, after?: object, by = caller) =>
    disk.store.act(() =>
      trail.audit.note(by, { act, target, ...(before && { before }), ...(after && { after }) }),
    );

  test("tells who, from where, and which fields changed", async () => {
    await note(
      "key.update",
      "key_9",
      { name: "a", limits: { rpm: 1 }, same: [1] },
      { name: "b", limits: {}, same: [1] },
    );
    expect((await list("listAudit")).data).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        created_at: "2026-09-09T00:00:00.000Z",
        actor: { kind: "key", id: "key_1" },
        act: "key.update",
        target: "key_9",
        reason: "",
        request_id: caller.requestId,
        changes: [
          { field: "name", before: "a", after: "b" },
          { field: "limits", before: { rpm: 1 }, after: {} },
        ],
        ip_prefix: "192.0.2.0/24",
        user_agent: "tests",
      },
    ]);
  });

  test("is filtered by actor, act, kind of act, target and time", async () => {
    await note("key.create", "key_1");
    clock.advance(1000);
    await note("key.revoke", "key_2", undefined, undefined, {
      ...caller,
      actor: { kind: "person", id: "usr_1" },
    });
    clock.advance(1000);
    await note("org.update", "org_1");
    const acts = async (query: object) => (await list("listAudit", query)).data.map(({ act }) => act);
    expect(await acts({ actor: "usr_1" })).toEqual(["key.revoke"]);
    expect(await acts({ act: "key.*" })).toEqual(["key.revoke", "key.create"]);
    expect(await acts({ act: "key.create" })).toEqual(["key.create"]);
    expect(await acts({ target: "org_1" })).toEqual(["org.update"]);
    expect(await acts({ since: "2026-09-09T00:00:01Z", until: "2026-09-09T00:00:02Z" })).toEqual([
      "key.revoke",
    ]);
  });

  test("is kept for 400 days", async () => {
    await note("key.create", "key_1");
    clock.advance(400 * DAY_MS);
    await trail.audit.sweep();
    expect(trail.auditOf("org_1")).toHaveLength(1);
    clock.advance(2 * DAY_MS);
    await trail.audit.sweep();
    expect(trail.auditOf("org_1")).toEqual([]);
  });

  test("tells a long value by its length", () => {
    const [change] = changesBetween({ yaml: "x".repeat(3000) }, { yaml: "y" });
    expect(change).toEqual({ field: "yaml", before: "(3002 characters)", after: "y" });
    expect(changesBetween(undefined, { id: "a" })).toEqual([{ field: "id", after: "a" }]);
    expect(changesBetween({ id: "a" }, undefined)).toEqual([{ field: "id", before: "a" }]);
  });
});
