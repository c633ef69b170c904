/** A hedge where the prompt is too long for the endpoint that was asked first. */
import { expect, test } from "vitest";
import { type ControlledUpstream, type Options, runAttempts } from "./controlled-upstreams.ts";

const at = (upstreams: readonly ControlledUpstream[], n: number): ControlledUpstream =>
  upstreams[n] as ControlledUpstream;

const hedged = (stream: boolean, more: Options) =>
  runAttempts({ stream, decision: { hedgeAfterMs: 500 }, ...more });

const TOO_LONG = { message: "The prompt is too long.", code: "context_length_exceeded" };
const contexts = { one: 1000, two: 5000, three: 1000 };

test.each([true, false])(
  "a prompt that is too long for the first may fit the second, which goes on, stream %s",
  async (stream) => {
    const { time, upstreams, asked, kinds, ended, inFlight } = hedged(stream, { contexts });
    time.pass(500);
    await at(upstreams, 0).status(400, {}, TOO_LONG);
    expect([at(upstreams, 1).isCancelled, kinds()]).toEqual([false, []]);
    await at(upstreams, 1).answer();
    expect([asked(), kinds()]).toEqual([["one", "two"], [stream ? "streamed" : "whole"]]);
    expect([ended(), inFlight()]).toEqual([["1 one http_error", "2 two ok"], 0]);
  },
);

test.each([true, false])(
  "and the second is still asked where its body is being written, stream %s",
  async (stream) => {
    const { time, upstreams, asked, kinds, wrote } = hedged(stream, { contexts, inThread: ["two"] });
    time.pass(500);
    await at(upstreams, 0).status(400, {}, TOO_LONG);
    await wrote("two");
    expect([asked(), kinds()]).toEqual([["one", "two"], []]);
    await at(upstreams, 1).answer();
    expect(kinds()).toEqual([stream ? "streamed" : "whole"]);
  },
);

test.each([true, false])("one that has no longer context refuses it too, stream %s", async (stream) => {
  const { time, upstreams, kinds, ended } = hedged(stream, { contexts: { ...contexts, two: 1000 } });
  time.pass(500);
  await at(upstreams, 0).status(400, {}, TOO_LONG);
  expect([kinds(), ended()]).toEqual([["failed"], ["1 one http_error", "2 two cancelled"]]);
});
