/** What is read of an error, whatever a server or a caller puts into it: within bounds, and no further than its reason. */
import { describe, expect, test } from "vitest";
import { readErrorValue } from "../../../../src/wire/neutral/upstream-error.ts";
import { isBareError } from "../../../../src/wire/neutral/upstream-errors/bare-error.ts";
import { errorOfData } from "../../../../src/wire/neutral/upstream-errors/event.ts";
import { literalAtStart } from "../../../../src/wire/neutral/upstream-errors/literal.ts";
import { wrappedValue } from "../../../../src/wire/neutral/upstream-errors/wrapped.ts";
import { readResponseError } from "../../../../src/wire/responses/read-reply.ts";

describe("a literal at the start of a text", () => {
  test.each<[string, unknown, string]>([
    ['{"a":[1,"}"]} x', { a: [1, "}"] }, " x"],
    ['{"a":"it\'s"}', { a: "it's" }, ""],
    [
      "{'a': None, 'b': True, 'c': (1, -2.5), 'd': ('x',)} y",
      { a: null, b: true, c: [1, -2.5], d: ["x"] },
      " y",
    ],
    [
      "{'a': \"it's\", 'b': 'say \\'x\\'', 'c': '\\u00e9\\x41\\n'}",
      { a: "it's", b: "say 'x'", c: "éA\n" },
      "",
    ],
    ["{'e': ValueError('bad'), 'f': b'x'}", { e: ["bad"], f: "x" }, ""],
    ['["a"]', ["a"], ""],
    ['"a" b', "a", " b"],
  ])("%s", (text, value, rest) => {
    const found = literalAtStart(text);
    expect(found?.value).toEqual(value);
    expect(text.slice(found?.end)).toBe(rest);
  });

  test.each([
    "",
    "x",
    "{",
    '{"a":1',
    "{'a': '",
    '"a',
    "{a}",
    "{'a': <Response [400]>}",
    "{'a': nan}",
    "[1, 2}",
    "'a'",
  ])("none: %s", (text) => expect(literalAtStart(text)).toBeUndefined());
});

test("what a proxy wraps is no object that words follow", () => {
  expect(wrappedValue('Error code: 400 - {"a":1}')).toEqual({ a: 1 });
  expect(wrappedValue('Error code: 400 - {"a":1} is not valid')).toBeUndefined();
  expect(wrappedValue('Error from provider(p,m: 400): {"a":1}Error: x')).toEqual({ a: 1 });
  expect(wrappedValue('{"a":1}Error: x')).toBeUndefined();
  expect(wrappedValue('"{\\"a\\":1}"')).toEqual({ a: 1 });
  expect(wrappedValue('"a"')).toBeUndefined();
});

describe("what says that all is well is no error", () => {
  test.each([
    { code: 0, msg: "success", data: {} },
    { code: 200, message: "ok" },
    { status: "success", message: "done" },
    { base_resp: { status_code: 0, status_msg: "" } },
    { type: "ping" },
    { message: "alone" },
    { error_msg: "" },
    { errors: [] },
  ])("%j", (value) => expect(isBareError(value)).toBe(false));
});

describe("an event whose data are no object", () => {
  const told = (data: string, name = "") => errorOfData(Buffer.from(data).toString("latin1"), name)?.message;

  test.each<[data: string, name: string, message: string | undefined]>([
    ["größer 世界", "error", "größer 世界"],
    [`bad ${"x".repeat(200_000)}`, "error", `bad ${"x".repeat(1996)}`],
    ['{"error":{"message":"bad","x":', "error", "bad"],
    ['{"error":{"message":"bad', "", "bad"],
    [`{"error":{"message":"bad","x":"${"x".repeat(200_000)}"`, "", "bad"],
    ['{"type":"error","error":{"message":"bad', "", "bad"],
    ["null", "error", ""],
    ["500", "error", ""],
    ["\0\x01\x02", "error", ""],
    ['["a","b"]', "error", "a; b"],
    ["[ERROR] out of memory", "", "[ERROR] out of memory"],
    ["errors are fun", "", undefined],
    ['{"choices":[{"delta":{"content":"{\\"error\\":1', "", undefined],
    ['{"delta":"{\\"error\\"', "", undefined],
    ["<html>", "", undefined],
    ["", "error", undefined],
  ])("%s %s", (data, name, message) => expect(told(data, name)).toBe(message));
});

test("a response that failed without an error says how it ended", () => {
  const response = {
    status: "failed",
    error: null,
    output: [],
    incomplete_details: { reason: "max_output_tokens" },
  };
  expect(readResponseError(response)).toEqual({
    code: "max_output_tokens",
    type: "",
    message: "The response ended as failed: max_output_tokens.",
  });
});

test("objects within each other are looked at a bounded number of times", () => {
  const names = ["message", "msg", "detail", "error", "errors", "reason", "details", "fault", "result"];
  let looked = 0;
  const node = (depth: number): object =>
    new Proxy(
      {},
      {
        has: (_, name) => names.includes(String(name)),
        ownKeys: () => names,
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: undefined }),
        get: (_, name) => {
          if (!names.includes(String(name)) || depth === 0) return undefined;
          looked++;
          return node(depth - 1);
        },
      },
    );
  readErrorValue(node(20));
  expect(looked).toBeGreaterThan(50);
  expect(looked).toBeLessThan(10_000);
});
