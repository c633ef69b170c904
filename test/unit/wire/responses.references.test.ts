/** Which items of a request's input refer to stored ones: a reference that is not found would go on to the provider. */
import { expect, test } from "vitest";
import { readResponsesRequest } from "../../../src/wire/responses/request.ts";

test.each([
  String.raw`{"type":"item\u005freference","id":"msg_1"}`,
  String.raw`{"\u0074ype":"item_reference","\u0069d":"msg\u005f1"}`,
  '{"id":"msg_1"}',
  '{ "id" : "msg_1", "type" : null, "role" : "user" }',
])("a reference is found however it is written: %s", (item) => {
  const body = `{"model":"m","input":[{"role":"user","content":"é"}, ${item} ,{"role":"user","content":"x"}]}`;
  const bytes = Buffer.from(body);
  const { references } = readResponsesRequest(bytes);
  expect(references).toEqual([{ index: 1, id: "msg_1", start: expect.any(Number), end: expect.any(Number) }]);
  expect(bytes.toString("utf8", references[0]?.start, references[0]?.end)).toBe(item);
});

test.each([
  '{"id":"msg_1","role":"user","content":"x"}',
  '{"id":"msg_1","type":"message","role":"assistant","content":[]}',
  '{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":""}',
])("%s is no reference", (item) => {
  const { references } = readResponsesRequest(Buffer.from(`{"model":"m","input":[${item}]}`));
  expect(references).toEqual([]);
});
