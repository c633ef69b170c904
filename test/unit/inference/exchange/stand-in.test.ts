/** A call that hangs at an endpoint where others hang too is not left to wait for the longest timeout. */
import { describe, expect, test } from "vitest";
import { type ControlledUpstream, runAttempts } from "./controlled-upstreams.ts";

describe.each([true, false])("a call that hangs, stream %s", (stream) => {
  /** One call is under way at the first endpoint. Where an endpoint has answered, 200 ms are usual: three seconds are too long. */
  function hanging(decision: object = {}, answered: readonly string[] = ["one", "two"]) {
    const all = runAttempts({ stream, decision });
    const [one, two] = all.endpoints;
    if (one === undefined || two === undefined) throw new Error("two endpoints are needed");
    const begin = (at: typeof one) => {
      const lane = all.health.begin(at, at.provider.keys);
      if (lane === undefined) throw new Error("no lane was given");
      return lane;
    };
    const usual = { outcome: "ok", errorClass: "", ttftMs: 200, wholeMs: 200 } as const;
    for (const at of [one, two]) if (answered.includes(at.id)) all.health.onResult(begin(at), usual);
    return {
      ...all,
      /** So many others are found to hang there now. */
      othersHang(count: number) {
        for (let i = 0; i < count; i++) all.health.onSilence(begin(one));
      },
    };
  }

  test("where others hang too, the next endpoint stands in for it, once", async () => {
    const { time, tick, othersHang, asked, upstreams, kinds, ended } = hanging();
    time.pass(2900);
    othersHang(5);
    tick();
    expect(asked()).toEqual(["one"]);
    time.pass(200);
    tick();
    tick();
    expect(asked()).toEqual(["one", "two"]);
    await (upstreams[1] as ControlledUpstream).answer();
    expect([kinds(), ended()]).toEqual([[stream ? "streamed" : "whole"], ["1 one cancelled", "2 two ok"]]);
  });

  test("where it hangs alone it is waited for, and where no other endpoint may be asked always", () => {
    const alone = hanging();
    const only = hanging({ maxAttempts: 1 });
    for (const [{ time, tick, othersHang, asked }, others] of [
      [alone, 0],
      [only, 5],
    ] as const) {
      time.pass(20_000);
      othersHang(others);
      tick();
      expect(asked()).toEqual(["one"]);
    }
  });

  test("O31: where none was ever answered, what the other endpoints take is expected of it", async () => {
    const { time, tick, asked, upstreams, kinds, ended } = hanging({}, ["two"]);
    time.pass(9900);
    tick();
    expect(asked()).toEqual(["one"]);
    time.pass(200);
    tick();
    tick();
    expect(asked()).toEqual(["one", "two"]);
    await (upstreams[1] as ControlledUpstream).answer();
    expect([kinds(), ended()]).toEqual([[stream ? "streamed" : "whole"], ["1 one cancelled", "2 two ok"]]);
  });

  test("O31: where nothing is known of any endpoint, a minute is waited", () => {
    const { time, tick, asked } = hanging({}, []);
    time.pass(59_900);
    tick();
    expect(asked()).toEqual(["one"]);
    time.pass(200);
    tick();
    expect(asked()).toEqual(["one", "two"]);
  });

  test("a policy's hedge beside it does not ask a third", () => {
    const { time, tick, othersHang, asked } = hanging({ hedgeAfterMs: 4000 });
    time.pass(3200);
    othersHang(5);
    tick();
    expect(asked()).toEqual(["one", "two"]);
    time.pass(10_000);
    expect(asked()).toEqual(["one", "two"]);
  });
});
