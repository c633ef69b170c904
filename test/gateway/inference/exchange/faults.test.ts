/** A fault of ours while an answer is written: the call ends with an error, a record, and a charge for what was delivered. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { generateFormat } from "../../../../src/wire/generate/format.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { atRest, charges, recordOf, requestIdOf } from "../../../support/observations.ts";

let gateway: TestGateway;
const log: string[] = [];
beforeAll(async () => {
  gateway = await testGateway({ log });
});
afterAll(() => gateway.stop());
afterEach(() => vi.restoreAllMocks());

const generation = generateFormat.generation as NonNullable<typeof generateFormat.generation>;
const body = { model: "weir/sim-chat", messages: [{ role: "user", content: "Water. ".repeat(400) }] };
const generate = (more: object = {}) =>
  gateway.call("POST", "/v1/svc/generate", { body: { ...body, ...more } });

test("of a whole answer: 500, on record, free", async () => {
  vi.spyOn(generation, "writeReply").mockImplementationOnce(() => {
    throw new TypeError("a fault of ours");
  });
  const answer = await generate();
  expect([answer.status, answer.json.error.code]).toEqual([500, "internal"]);
  expect(answer.text).not.toContain("fault");
  await atRest(gateway);
  const record = await recordOf(gateway, requestIdOf(answer));
  expect(record).toMatchObject({ status: "error", error_code: "internal", cost_micro: 0 });
  expect(record.attempt_rows).toHaveLength(1);
  expect((await charges(gateway)).has(requestIdOf(answer))).toBe(false);
  expect(log.join("")).toContain("a fault of ours");
});

/** A stream that cannot be ended. */
function failAtClose(): void {
  const { streamWriter } = generation;
  vi.spyOn(generation, "streamWriter").mockImplementationOnce((request, identity) => {
    const writer = streamWriter(request, identity);
    return {
      write: (event) => writer.write(event),
      close() {
        throw new TypeError("a fault of ours");
      },
    };
  });
}

const streamed = (instruction: string) =>
  generate({ stream: true, messages: [{ role: "user", content: `[[sim ${instruction}]]` }] });

test("at the end of a stream: an error event, on record, what was delivered is charged", async () => {
  failAtClose();
  const answer = await streamed("tokens=5 gap_ms=20");
  expect(answer.text.match(/event: content.delta/g)).toHaveLength(5);
  expect(answer.text).toContain("event: error");
  await atRest(gateway);
  const record = await recordOf(gateway, requestIdOf(answer));
  expect(record).toMatchObject({ status: "error", error_code: "internal" });
  expect(record.cost_micro).toBeGreaterThan(0);
  expect((await charges(gateway)).get(requestIdOf(answer))).toEqual([-record.cost_micro]);
});

test("at the end of a stream that came in one read: nothing of it was sent, so it is 500 and free", async () => {
  failAtClose();
  const answer = await streamed("tokens=5 one_write");
  expect([answer.status, answer.json.error.code]).toEqual([500, "internal"]);
  await atRest(gateway);
  const record = await recordOf(gateway, requestIdOf(answer));
  expect(record).toMatchObject({ status: "error", error_code: "internal", cost_micro: 0 });
  expect((await charges(gateway)).has(requestIdOf(answer))).toBe(false);
});
