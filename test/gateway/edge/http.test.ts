/**
 * HTTP as it should not be, over raw sockets: bodies over the bound, compressed ones, ill-formed heads, pipelining.
 * Each gets a clear status or its connection is closed; the gateway lives on and nothing is charged.
 */
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";
import { framing } from "./framing.cases.ts";

const MAX_BODY_BYTES = 65_536;
// A record is looked up before it would reach an engine. A stop waits a sixth of this for one that could take the last records.

let gateway: TestGateway;
/** The server waits for the rest of such a head until its idle time is over (10 s): the other tests run meanwhile. */
let illFormed: Promise<{ text: string; closed: boolean }[]>;
const ILL_FORMED = ["X-A: a\u0001b", "X-A: a\u0000b", "User-Agent: a\rb", "X-A"];
beforeAll(async () => {
  gateway = await testGateway({
    settings: { limits: { max_body_bytes: MAX_BODY_BYTES } },
  });
  illFormed = Promise.all(ILL_FORMED.map((line) => exchange(withHeader(line))));
});
afterAll(() => gateway.stop());

const CHAT = "/v1/chat/completions";
const good = { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 };
const json = JSON.stringify;
const post = (body: string) => gateway.call("POST", CHAT, { body, key: gateway.testKey });

/** Sends bytes on a connection of their own; resolves with what came back once the connection closes or `done`. */
function exchange(
  bytes: string | Buffer,
  done: (received: string) => boolean = () => false,
): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () => socket.write(bytes));
    const end = (closed: boolean) => {
      socket.destroy();
      resolve({ text, closed });
    };
    socket.on("data", (data) => {
      text += data.toString("latin1");
      if (done(text)) end(false);
    });
    socket.on("error", () => {});
    socket.on("close", () => end(true));
  });
}

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => Number(m[1]));
const statuses = (count: number) => (text: string) => statusesOf(text).length === count && /}\s*$/.test(text);

const head = (...lines: string[]) =>
  [`POST ${CHAT} HTTP/1.1`, "Host: weir", `Authorization: Bearer ${gateway.testKey}`, ...lines, "", ""].join(
    "\r\n",
  );
const request = (body: string | Buffer, ...lines: string[]) =>
  Buffer.concat([Buffer.from(head(...lines, `Content-Length: ${body.length}`)), Buffer.from(body)]);
const withHeader = (line: string) => request(json(good), line);
const HEALTH = "GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n";

describe("T56: bodies over the bound", () => {
  const large = json({ ...good, user: "u".repeat(MAX_BODY_BYTES) });

  test("announced: 413, and the connection serves the next request", async () => {
    const { text } = await exchange(Buffer.concat([request(large), Buffer.from(HEALTH)]), statuses(2));
    expect(statusesOf(text)).toEqual([413, 200]);
    expect(text).toContain('"code":"payload_too_large"');
    expect(text).toContain(`"max_bytes":${MAX_BODY_BYTES}`);
  });

  test("chunked, so not announced: 413, told that the connection ends", async () => {
    const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
    const body = `${chunk.repeat(MAX_BODY_BYTES / 4096 + 1)}0\r\n\r\n`;
    const { text } = await exchange(head("Transfer-Encoding: chunked") + body, statuses(1));
    expect(statusesOf(text)).toEqual([413]);
    expect(text).toContain("connection: close");
  });

  test("chunked and within it: read whole", async () => {
    const bytes = json(good);
    const chunks = [bytes.slice(0, 10), bytes.slice(10)].map((c) => `${c.length.toString(16)}\r\n${c}\r\n`);
    const { text } = await exchange(
      `${head("Transfer-Encoding: chunked")}${chunks.join("")}0\r\n\r\n`,
      statuses(1),
    );
    expect(statusesOf(text)).toEqual([200]);
  });

  test("33 MB against the default of 32 MB", async () => {
    const other = await testGateway();
    try {
      const answer = await other.chat({ user: "u".repeat(33 * 1024 * 1024) });
      expect(answer.status).toBe(413);
      expect(answer.json.error).toMatchObject({ type: "payload_too_large", code: "payload_too_large" });
      expect(answer.headers.get("x-svc-request-id")).toBe(answer.json.error.request_id);
      expect((await other.chat()).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  test.each(["32769", "65536"])("a body of exactly %s bytes passes", async (bytes) => {
    const empty = json({ ...good, user: "" });
    const body = json({ ...good, user: "u".repeat(Number(bytes) - empty.length) });
    expect(body).toHaveLength(Number(bytes));
    expect((await post(body)).status).toBe(200);
  });

  test("compressed: a good one is read, the bound counts what it becomes, a broken one is refused", async () => {
    const zipped = (text: string) => request(gzipSync(text), "Content-Encoding: gzip");
    expect(statusesOf((await exchange(zipped(json(good)), statuses(1))).text)).toEqual([200]);
    expect(gzipSync(large).length).toBeLessThan(1000);
    const bomb = await exchange(zipped(large), statuses(1));
    expect(statusesOf(bomb.text)).toEqual([413]);
    expect(bomb.text).toContain("once decompressed");
    const cut = request(gzipSync(json(good)).subarray(0, -6), "Content-Encoding: gzip");
    expect(statusesOf((await exchange(cut, statuses(1))).text)).toEqual([400]);
    const unknown = await exchange(request(json(good), "Content-Encoding: compress"), statuses(1));
    expect(statusesOf(unknown.text)).toEqual([415]);
    expect(unknown.text).toContain('"code":"unsupported_media_type"');
  });
});

describe("malformed HTTP requests", () => {
  test("bytes above ASCII in a header are carried, never executed", async () => {
    const { text } = await exchange(withHeader("User-Agent: caf\u00e9 \u007f\t"), statuses(1));
    expect(statusesOf(text)).toEqual([200]);
    const id = /x-svc-request-id: (\S+)/.exec(text)?.[1];
    const { json: detail } = await gateway.call("GET", `/v1/requests/${id}`);
    expect(detail.user_agent).toContain("caf");
  });

  test.each<[string, () => string | Buffer, number]>([
    ["headers of 40 KB", () => withHeader(`X-A: ${"a".repeat(40_000)}`), 431],
    ["500 headers", () => request(json(good), ...Array.from({ length: 500 }, (_, i) => `X-${i}: a`)), 431],
    ["a path of 40 KB", () => `GET /${"a".repeat(40_000)} HTTP/1.1\r\nHost: weir\r\n\r\n`, 431],
    ["HTTP/1.0", () => "GET /healthz HTTP/1.0\r\nHost: weir\r\n\r\n", 505],
    ["a TLS greeting", () => "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n", 505],
    ["a length that is no number", () => `${head("Content-Length: many")}`, 400],
    ["a length below zero", () => `${head("Content-Length: -1")}`, 400],
    ["a length beyond numbers", () => `${head("Content-Length: 99999999999999999999")}`, 400],
    ["a length and chunks", () => `${head("Transfer-Encoding: chunked", "Content-Length: 5")}0\r\n\r\n`, 400],
    ["chunks without sizes", () => `${head("Transfer-Encoding: chunked")}zz\r\nhello\r\n`, 400],
  ])("%s", async (_, bytes, status) => {
    const { text, closed } = await exchange(bytes());
    expect([statusesOf(text)[0] ?? status, closed]).toEqual([status, true]);
  });

  test("Expect: 100-continue is answered before the body", async () => {
    const body = json(good);
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    let text = "";
    socket.on("data", (data) => {
      if (text === "") socket.write(body);
      text += data.toString("latin1");
    });
    socket.write(head("Expect: 100-continue", `Content-Length: ${body.length}`));
    await until("the answer", () => statuses(2)(text));
    expect(statusesOf(text)).toEqual([100, 200]);
    socket.destroy();
  });

  test("a body that never arrives, and a client that disconnects in the middle of one", async () => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    socket.write(`${head("Content-Length: 100")}{"model"`);
    await new Promise<void>((resolve) => socket.end(() => resolve()));
    socket.destroy();
    expect((await gateway.call("GET", "/healthz")).status).toBe(200);
  });

  test("pipelined requests: those answered at once are answered in order", async () => {
    const { text } = await exchange(HEALTH.repeat(5), statuses(5));
    expect(statusesOf(text)).toEqual([200, 200, 200, 200, 200]);
  });

  test("pipelined model calls: the connection is closed rather than answered out of order", async () => {
    const calls = gateway.simulator.totalCalls;
    const { text, closed } = await exchange(Buffer.concat([request(json(good)), request(json(good))]));
    expect(closed).toBe(true);
    expect(statusesOf(text).length).toBeLessThan(2);
    expect(gateway.simulator.totalCalls - calls).toBeLessThanOrEqual(1);
  });
});

test("control characters in a header: no answer is made of it, and the connection ends", async () => {
  for (const { text, closed } of await illFormed) {
    expect(closed).toBe(true);
    expect(statusesOf(text).every((status) => status === 400)).toBe(true);
  }
});

test("after all of it: alive, and no request is running", async () => {
  await atRest(gateway);
  expect((await post(json(good))).status).toBe(200);
});

framing();
