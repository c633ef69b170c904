/** Kinds of routes beside model calls: streams of events, hooks that get raw bytes, and answers that are more than JSON. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { systemClock } from "../../../src/base/clock.ts";
import { fail } from "../../../src/base/errors.ts";
import { answer, raw, redirect } from "../../../src/base/operation/answer.ts";
import { type EventSink, streamOperation } from "../../../src/base/operation/event-stream.ts";
import type { Hook } from "../../../src/base/operation/hook.ts";
import { type Operation, operation } from "../../../src/base/operation/operation.ts";
import type { CredentialPorts } from "../../../src/edge/authorize.ts";
import { BodyBudget } from "../../../src/edge/body/body-budget.ts";
import { Uploads } from "../../../src/edge/body/uploads.ts";
import type { Route } from "../../../src/edge/routes.ts";
import { securityHeaders } from "../../../src/edge/security-headers.ts";
import { openServer, type Server } from "../../../src/edge/server.ts";
import { readStaticFiles } from "../../../src/edge/static-files.ts";
import type { Exchange } from "../../../src/inference/exchange/exchange.ts";
import { until } from "../../support/wait.ts";

const SCIM = {
  heading: "Directory",
  mediaType: "application/scim+json",
  errorBody: (error: { status: number; message: string }) =>
    JSON.stringify({ status: String(error.status), detail: error.message }),
};
const PLAIN = { heading: "Plain" };
const thing = z.object({ name: z.string() });

let sink: EventSink | undefined;
let hooked: { bytes: Buffer; params: Readonly<Record<string, string>>; signature: string } | undefined;
const faults: unknown[] = [];

const hook: Hook = {
  name: "receive",
  summary: "",
  path: "/hooks/{service}",
  group: "Operation",
  maxBytes: 100,
  run(bytes, params, head) {
    hooked = { bytes, params, signature: head.header("x-signature") };
    if (bytes.length === 0) throw fail("invalid_value", "Nothing came.");
    return raw("text/plain", "taken", { status: 202 });
  },
};
const op = (run: Operation<undefined, undefined, undefined, typeof thing>["run"]) =>
  operation({
    summary: "",
    method: "GET",
    path: "/",
    access: "public",
    group: "Operation",
    output: thing,
    errors: [],
    run,
  });
const row = (method: "GET" | "POST", path: string, runs: object, group: object = PLAIN) =>
  ({ method, path, access: "public", group, ...runs }) as unknown as Route;

const routes: Route[] = [
  row("POST", "/hooks/{service}", { hook }),
  row("GET", "/events", {
    stream: streamOperation({
      summary: "",
      path: "/events",
      access: "public",
      group: "Operation",
      query: z.object({ fail: z.enum(["early", "late"]).optional() }),
      event: thing,
      open({ query }, _caller, _head, events) {
        if (query.fail === "early") throw fail("state", "Not now.");
        sink = events;
        if (query.fail !== "late") return;
        events.send({ name: "first" });
        throw fail("state", "Not any more.");
      },
    }),
  }),
  row("GET", "/redirect", {
    operation: op(() => redirect("/next?a=b", { cookies: ["a=1; Path=/", "b=2"] })),
  }),
  row("GET", "/cookie", {
    operation: op((_input, _caller, head) => ({
      name: [head.cookie("svc_session"), head.header("x-name"), head.address].join("|"),
    })),
  }),
  row("POST", "/made", { operation: op(() => answer({ name: "new" }, { status: 202, cookies: ["s=1"] })) }),
  row("GET", "/broken", { operation: op(() => redirect("/\r\nset-cookie: evil=1")) }),
  row("GET", "/scim/Users", { operation: op(() => ({ name: "user" })) }, SCIM),
  row(
    "GET",
    "/scim/None",
    {
      operation: op(() => {
        throw fail("not_found", "No such user.");
      }),
    },
    SCIM,
  ),
];

const folder = mkdtempSync(join(tmpdir(), "weir-assets-"));
let server: Server;
let url: string;
beforeAll(async () => {
  mkdirSync(join(folder, "deep"));
  writeFileSync(join(folder, "a.css"), "a { color: red }");
  writeFileSync(join(folder, "deep/b c.png"), Buffer.from([1, 2, 3]));
  server = await openServer(
    {
      routes,
      pages: [],
      origins: ["*"],
      security: securityHeaders(false),
      assets: [readStaticFiles("/assets/", folder)],
      clientAddress: (peer) => peer,
      requestLimits: { admit: () => undefined, refused: () => {} },
      credentials: { sessionCookie: "svc_session" } as CredentialPorts,
      exchange: {} as Exchange,
      inquire: async () => {},
      clock: systemClock,
      maxBodyBytes: 1000,
      uploads: new Uploads(new BodyBudget(1e6), { windowMs: 10_000, minBytes: 1 }, systemClock),
      onListening: () => {},
      onConnection: () => true,
      isCrowded: () => false,
      onFault: (error) => faults.push(error),
    },
    "127.0.0.1",
    0,
  );
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  sink = undefined;
  hooked = undefined;
});

const get = (path: string, headers = {}) => fetch(`${url}${path}`, { headers, redirect: "manual" });

describe("a hook", () => {
  const post = (body: Uint8Array, headers = {}) =>
    fetch(`${url}/hooks/pay%20me`, { method: "POST", body, headers: { "x-signature": "sig", ...headers } });

  test("gets the bytes as they came, whatever their type, with headers and path", async () => {
    const bytes = Buffer.from([0, 255, 10, 123, 13]);
    const taken = await post(bytes, { "content-type": "application/x-odd" });
    expect([taken.status, await taken.text()]).toEqual([202, "taken"]);
    expect(hooked).toEqual({ bytes, params: { service: "pay me" }, signature: "sig" });
  });

  test("refuses bodies that are too large, with our errors", async () => {
    expect((await post(Buffer.alloc(101))).status).toBe(413);
    expect(hooked).toBeUndefined();
    const empty = await post(Buffer.alloc(0));
    expect([empty.status, ((await empty.json()) as { error: { message: string } }).error.message]).toEqual([
      400,
      "Nothing came.",
    ]);
  });
});

describe("a stream of events", () => {
  test("has nothing behind its head for a HEAD, and is not opened", async () => {
    sink = undefined;
    const socket = connect(server.port, "127.0.0.1");
    const both = ["HEAD /events", "GET /cookie"].map((line) => `${line} HTTP/1.1\r\nhost: x\r\n\r\n`);
    socket.write(both[0] as string);
    let read = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      read += part;
    });
    await until("the head is there", () => read.endsWith("\r\n\r\n"));
    expect(read).toContain("content-type: text/event-stream");
    const { length } = read;
    socket.write(both[1] as string);
    await until("the next answer is there", () => read.length > length);
    expect(read.slice(length)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(sink).toBeUndefined();
    socket.destroy();
  });

  test("connects at once, sends events, and ends", async () => {
    const answered = await get("/events");
    expect([answered.status, answered.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(answered.headers.get("x-svc-request-id")).toMatch(/^[0-9A-Z]{26}$/);
    let over = 0;
    sink?.onOver(() => over++);
    expect(sink?.send({ name: "one" })).toBe(true);
    sink?.send({ name: "two\nlines" }, { event: "made\nid: 9", id: "7" });
    sink?.end();
    sink?.send({ name: "late" });
    expect(await answered.text()).toBe(
      ': keep-alive\n\ndata: {"name":"one"}\n\nevent: made id: 9\nid: 7\ndata: {"name":"two\\nlines"}\n\n',
    );
    expect(over).toBe(1);
  });

  test("reports the client's disconnect once", async () => {
    let over = 0;
    const asked = request(`${url}/events`).end();
    await new Promise((resolve) => asked.once("response", resolve));
    sink?.onOver(() => over++);
    asked.destroy();
    await until("it is told", () => over > 0);
    sink?.send({ name: "nobody" });
    sink?.end();
    expect(over).toBe(1);
  });

  test("reports when the client reads slowly, and when it has caught up", async () => {
    const asked = request(`${url}/events`).end();
    const answered = await new Promise<import("node:http").IncomingMessage>((resolve) =>
      asked.once("response", resolve),
    );
    answered.pause();
    await until("it is behind", () => sink?.send({ name: "x".repeat(100_000) }) === false);
    expect(sink?.isBehind).toBe(true);
    answered.resume();
    await until("it has caught up", () => sink?.isBehind === false);
    asked.destroy();
  });

  test.each([
    ["early", 409, /^\{"error":/],
    [
      "late",
      200,
      /^: keep-alive\n\ndata: \{"name":"first"\}\n\nevent: error\ndata: \{"error":.*Not any more/,
    ],
  ])("an %s failure", async (when, status, text) => {
    const answered = await get(`/events?fail=${when}`);
    expect([answered.status, await answered.text()]).toEqual([status, expect.stringMatching(text)]);
  });

  test("its query is checked", async () => {
    expect((await get("/events?fail=never")).status).toBe(400);
  });
});

describe("an operation", () => {
  test("redirects, and sets several cookies", async () => {
    const answered = await get("/redirect");
    expect([answered.status, answered.headers.get("location")]).toEqual([303, "/next?a=b"]);
    expect(answered.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
    expect(await answered.text()).toBe("");
  });

  test("answers any 2xx with JSON and a cookie", async () => {
    const answered = await fetch(`${url}/made`, { method: "POST" });
    expect([answered.status, await answered.json()]).toEqual([202, { name: "new" }]);
    expect(answered.headers.getSetCookie()).toEqual(["s=1"]);
  });

  test("reads cookies, headers by name and the client's address", async () => {
    const cookie = "a=b; svc_session=s%20s; svc_session=second; __proto__=x";
    const answered = await get("/cookie", { cookie, "x-name": "n" });
    expect(await answered.json()).toEqual({ name: "s s|n|127.0.0.1" });
  });

  test("never lets a value end its header", async () => {
    const answered = await get("/broken");
    expect([answered.status, answered.headers.getSetCookie()]).toEqual([500, []]);
    expect(faults).toHaveLength(1);
  });
});

describe("files below a prefix", () => {
  test("have a media type and an ETag, and are not sent again if unchanged", async () => {
    const first = await get("/assets/a.css");
    expect([first.status, first.headers.get("content-type"), await first.text()]).toEqual([
      200,
      "text/css; charset=utf-8",
      "a { color: red }",
    ]);
    expect(first.headers.get("cache-control")).toBe("max-age=0, must-revalidate");
    const etag = first.headers.get("etag") ?? "";
    for (const known of [etag, `"other", W/${etag}`, "*"]) {
      const again = await get("/assets/a.css", { "if-none-match": known });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
    expect((await get("/assets/a.css", { "if-none-match": '"other"' })).status).toBe(200);
    const deep = await get("/assets/deep/b%20c.png");
    expect([deep.headers.get("content-type"), await deep.arrayBuffer()]).toEqual([
      "image/png",
      new Uint8Array([1, 2, 3]).buffer,
    ]);
  });

  test("are those of the folder and no others, and are only read", async () => {
    for (const path of ["none", "", "deep", "../package.json", "%2e%2e/package.json"]) {
      const answered = await fetch(`${url}/assets/${path}`.replace("/../", "/%2e%2e/"));
      expect(answered.status, path).toBe(404);
    }
    expect((await fetch(`${url}/assets/a.css`, { method: "POST" })).status).toBe(405);
    const head = await fetch(`${url}/assets/a.css`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "16"]);
  });
});

describe("a group with its own shapes", () => {
  test("has its media type", async () => {
    const answered = await get("/scim/Users");
    expect([answered.headers.get("content-type"), await answered.json()]).toEqual([
      "application/scim+json",
      { name: "user" },
    ]);
  });

  test("has its errors, for a wrong method too", async () => {
    expect(await (await get("/scim/None")).json()).toEqual({ status: "404", detail: "No such user." });
    const wrong = await fetch(`${url}/scim/Users`, { method: "DELETE" });
    expect([wrong.status, ((await wrong.json()) as { status: string }).status]).toEqual([405, "405"]);
  });
});
