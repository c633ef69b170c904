/** The table of routes is built from what rooms offer, and refused where that contradicts itself. */
import { expect, test } from "vitest";
import { z } from "zod";
import { raw } from "../../../src/base/operation/answer.ts";
import type { StreamOperation } from "../../../src/base/operation/event-stream.ts";
import type { Hook } from "../../../src/base/operation/hook.ts";
import type { AnyOperation, Named } from "../../../src/base/operation/operation.ts";
import { routeTable } from "../../../src/edge/routes.ts";

const read = (members: Partial<Named<AnyOperation>> = {}): Named<AnyOperation> => ({
  name: "getThing",
  summary: "",
  method: "GET",
  path: "/things",
  access: "public",
  group: "Keys",
  output: z.object({}),
  run: () => ({}),
  ...members,
});
const hook: Hook = {
  name: "takeThing",
  summary: "",
  path: "/hooks/{service}",
  params: z.object({ service: z.string() }),
  group: "Credits",
  maxBytes: 1,
  run: () => raw("text/plain", "taken"),
};
const stream: Named<StreamOperation> = {
  name: "watchThing",
  summary: "",
  path: "/things/{id}/events",
  access: "key / everyone",
  group: "Usage",
  params: z.object({ id: z.string() }),
  event: z.object({}),
  open: () => {},
};
const byId = { path: "/things/{id}", params: z.object({ id: z.string() }) } as const;

test("an operation, a stream and a hook are routes, in the order of the reference and then as given", () => {
  const change = read({ name: "updateThing", method: "PATCH", isForClosed: true, ...byId });
  const table = routeTable([hook, change, read(), stream]).filter((route) => !("exchange" in route));
  const usual = { isForClosed: false, isChange: false, isCounted: true, access: "public" };
  expect(table).toEqual([
    {
      ...usual,
      method: "GET",
      path: "/things/{id}/events",
      access: "key / everyone",
      group: { heading: "Usage" },
      stream,
    },
    {
      ...usual,
      method: "POST",
      path: "/hooks/{service}",
      isChange: true,
      group: { heading: "Credits" },
      hook,
    },
    {
      ...usual,
      method: "PATCH",
      path: "/things/{id}",
      isChange: true,
      isForClosed: true,
      group: { heading: "Keys" },
      operation: change,
    },
    { ...usual, method: "GET", path: "/things", group: { heading: "Keys" }, operation: expect.anything() },
  ]);
});

test("model calls are routes of keys, by POST; two questions about calls are people's as well", () => {
  const calls = routeTable([]);
  expect(calls.length).toBeGreaterThan(5);
  const isForPeople = (path: string) => /^\/v1\/svc\/(dry_run|count_tokens)$/.test(path);
  for (const { method, access, path } of calls)
    expect([method, access]).toEqual(["POST", isForPeople(path) ? "inference / member" : "inference"]);
});

test("a GET that stores something counts as a change", () => {
  const [route] = routeTable([read({ isChange: true })]).filter(({ path }) => path === "/things");
  expect(route?.isChange).toBe(true);
});

test("what keys that call models may ask counts where it stores something", () => {
  const counted = (more: object) =>
    routeTable([read({ access: "inference", ...more })]).find(({ path }) => path === "/things")?.isCounted;
  expect([counted({}), counted({ method: "DELETE" }), counted({ method: "POST", isChange: true })]).toEqual([
    false,
    false,
    true,
  ]);
});

test("what a directory calls has the shapes of SCIM", () => {
  const [route] = routeTable([read({ access: "directory" })]).filter(({ path }) => path === "/things");
  expect(route?.group).toMatchObject({ mediaType: "application/scim+json", errorSchema: "ScimError" });
});

test("two operations share a route where one answers in Anthropic's shape", () => {
  const [first, second] = [read(), read({ name: "getAnthropicThing", dialect: "anthropic" })];
  // In either order.
  for (const offered of [
    [first, second],
    [second, first],
  ]) {
    const [route] = routeTable(offered).filter(({ path }) => path === "/things");
    expect(route).toMatchObject({
      operation: { name: "getThing" },
      anthropic: { name: "getAnthropicThing" },
    });
  }
});

const second = (members: Partial<Named<AnyOperation>> = {}) =>
  read({ name: "getAnthropicThing", dialect: "anthropic", ...members });

const { params: _, ...hookWithout } = hook;

test.each<[string, (Named<AnyOperation> | Hook)[], string]>([
  ["a parameter of a hook without a schema", [hookWithout], '"service" in its path, and ""'],
  ["one route twice", [read(), read({ name: "getOther" })], "getThing and getOther have one route"],
  [
    "a route of a model call",
    [read({ method: "POST", path: "/v1/embeddings" })],
    "createEmbeddings and getThing",
  ],
  ["one name twice", [read(), read({ path: "/others" })], "two are named getThing"],
  ["the name of a model call", [read({ name: "createEmbeddings" })], "two are named createEmbeddings"],
  ["one name twice on a route", [read(), second({ name: "getThing" })], "two are named getThing"],
  [
    "a parameter without a schema",
    [read({ path: "/things/{id}" })],
    'the parameters "id" in its path, and ""',
  ],
  [
    "a schema without a parameter",
    [read({ params: byId.params })],
    'the parameters "" in its path, and "id"',
  ],
  ["a parameter of another name", [read({ ...byId, path: "/things/{key}" })], '"key" in its path, and "id"'],
  ["a second operation alone", [second()], "getAnthropicThing needs one other operation of GET /things"],
  [
    "three operations",
    [read(), second(), second({ name: "getThird" })],
    "getThird needs one other operation",
  ],
  [
    "a second one with another access",
    [read(), second({ access: "operator" })],
    "need one access and one group",
  ],
  ["a second one elsewhere", [read(), second({ group: "Usage" })], "need one access and one group"],
  [
    "a second one of other parameters",
    [read(byId), second({ path: byId.path })],
    "getAnthropicThing has the par",
  ],
])("%s is refused", (_, offered, message) => {
  expect(() => routeTable(offered)).toThrow(message);
});

test("a stream whose parameters differ is refused", () => {
  const { params: _, ...without } = stream;
  expect(() => routeTable([without])).toThrow('watchThing has the parameters "id" in its path, and ""');
});
