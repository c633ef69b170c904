/** What a page knows of an org from its live stream: read in any pieces, and bounded however much comes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventReader } from "../../../console/api/event-reader.ts";
import { after, type LiveEvent, NOTHING_YET } from "../../../console/api/live-state.ts";

describe("events of a stream", () => {
  const TEXT =
    ': hello\n\nevent: call.started\nid: 7\ndata: {"a":1}\n\ndata:two\r\ndata: lines\r\n\r\nid: 9\rdata: x\r\revent: none\n\n';
  const EVENTS = [
    { name: "call.started", id: "7", data: '{"a":1}' },
    { name: "message", id: "7", data: "two\nlines" },
    { name: "message", id: "9", data: "x" },
  ];

  test("are the same wherever the body is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(TEXT.length)), (cuts) => {
        const reader = new EventReader();
        const at = [0, ...cuts.sort((a, b) => a - b), TEXT.length];
        const read = at.slice(1).flatMap((end, i) => reader.read(TEXT.slice(at[i], end)));
        expect(read).toEqual(EVENTS);
      }),
      // An empty piece between a carriage return and its line feed.
      { examples: [[[59, 59]]] },
    );
  });
});

const call = (id: string) => ({
  request_id: id,
  project_id: "prj_1",
  key_id: "key_1",
  app_id: "",
  model: "weir/sim-small",
  provider: "",
  endpoint_id: "",
  stream: true,
  detached: false,
  started_at: "2026-11-30T10:00:00.000Z",
});
const event = (name: string, data: unknown, id = ""): LiveEvent => ({ name, id, data });

test("a call runs from its beginning to its end, with what is known of it meanwhile", () => {
  const begun = after(NOTHING_YET, [event("call.started", call("A")), event("call.started", call("B"))]);
  expect([...begun.running.keys()]).toEqual(["A", "B"]);
  const first = { request_id: "A", provider: "p", endpoint_id: "ep", ttft_ms: 12 };
  const token = after(begun, [
    event("call.first_token", first),
    event("call.first_token", { request_id: "Z" }),
  ]);
  expect(token.running.get("A")).toMatchObject({ provider: "p", ttft_ms: 12, model: "weir/sim-small" });
  expect(token.running.has("Z")).toBe(false);
  const ended = after(token, [event("call.ended", { request_id: "A", status: "ok" }, "41")]);
  expect([...ended.running.keys()]).toEqual(["B"]);
  expect(ended).toMatchObject({ endedCount: 1, position: "41", ended: [{ request_id: "A" }] });
  // What was made before is as it was: a page may still draw it.
  expect(begun.running.get("A")?.provider).toBe("");
});

test("an end that is told twice counts once, and no beginning behind it has the call run again", () => {
  const end = event("call.ended", { request_id: "A", status: "ok" }, "41");
  const once = after(NOTHING_YET, [event("call.started", call("A")), end, end]);
  expect(once).toMatchObject({ endedCount: 1, ended: [{ request_id: "A" }] });
  const again = after(once, [event("call.started", call("A")), end, event("call.started", call("B"))]);
  expect(again).toMatchObject({ endedCount: 1, ended: [{ request_id: "A" }] });
  expect([...again.running.keys()]).toEqual(["B"]);
});

test("what runs now replaces what was thought to run", () => {
  const begun = after(NOTHING_YET, [event("call.started", call("A"))]);
  const again = after(begun, [event("running", { count: 1, calls: [call("C")] })]);
  expect([...again.running.keys()]).toEqual(["C"]);
});

test("however much comes, a page keeps the newest", () => {
  const many = Array.from({ length: 3000 }, (_, i) => `${i}`);
  const begun = after(
    NOTHING_YET,
    many.map((id) => event("call.started", call(id))),
  );
  expect(begun.running.size).toBe(1000);
  expect(begun.running.has("2999")).toBe(true);
  const ended = after(
    begun,
    many.map((id) => event("call.ended", { request_id: id })),
  );
  expect(ended.running.size).toBe(0);
  expect(ended.ended).toHaveLength(200);
  expect(ended.ended[0]?.request_id).toBe("2999");
  expect(ended.endedCount).toBe(3000);
});

test("what was missed is counted, also where the number is not known", () => {
  const state = after(NOTHING_YET, [event("gap", { missed: 3 }), event("gap", { missed: null })]);
  expect(state.missed).toBe(3);
});
