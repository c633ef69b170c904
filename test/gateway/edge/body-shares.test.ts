/**
 * What a body takes of the budget comes back on every way out, over raw sockets: a share that is not given back keeps everybody
 * out for ever.
 */
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BodyBudget, BodyShare } from "../../../src/edge/body/body-budget.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, metric } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

const MB = 1024 * 1024;
/** With `WEIR_SLOW_UPLOADS=1` more clients. */
const CLIENTS = process.env.WEIR_SLOW_UPLOADS === "1" ? 5000 : 240;

test("O9: a share that was released takes nothing more", () => {
  const budget = new BodyBudget(MB);
  const share = new BodyShare(budget, "org_1");
  share.take(100_000);
  share.release();
  expect(() => share.take(100_000)).toThrow();
  share.release();
  expect(budget.bytes).toBe(0);
});

describe("over sockets", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({
      settings: {
        timeouts: { upload_ms: 400 },
        limits: { min_upload_bytes_per_s: 1000, max_body_bytes: 4 * MB, max_bodies_bytes: 24 * MB },
      },
    });
  });
  afterAll(() => gateway?.stop());

  const nothingHeld = () =>
    until("nothing is held", async () => (await metric(gateway, "weir_bodies_bytes")) === 0);

  interface Sent {
    readonly path?: string;
    readonly lines?: readonly string[];
    readonly key?: string;
    readonly body: string | Buffer;
    /** The client leaves right behind its last byte, or at the answer's first. */
    readonly leaves: "at once" | "at the answer" | "at its end";
  }

  /** Resolves when the connection is over. */
  const send = ({ path = "/v1/chat/completions", lines, key, body, leaves }: Sent): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
      const head = [
        `POST ${path} HTTP/1.1`,
        "Host: weir",
        `Authorization: Bearer ${key ?? gateway.liveKey}`,
        ...(lines ?? [`Content-Length: ${Buffer.byteLength(body)}`]),
      ];
      let text = "";
      socket.on("error", () => {});
      socket.on("close", () => resolve());
      socket.on("data", (data) => {
        text += data.toString("latin1");
        const length = /content-length: (\d+)/i.exec(text)?.[1];
        const headEnd = text.indexOf("\r\n\r\n");
        const isWhole =
          text.endsWith("0\r\n\r\n") || (length !== undefined && text.length >= headEnd + 4 + Number(length));
        if (leaves === "at the answer" || isWhole) socket.destroy();
      });
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      socket.write(body, () => {
        if (leaves === "at once") setImmediate(() => socket.destroy());
      });
    });

  const chat = (content: string, more: object = {}): string =>
    JSON.stringify({
      model: "weir/sim-small",
      messages: [{ role: "user", content }],
      max_tokens: 2,
      ...more,
    });
  const gzip = (text: string) => gzipSync(text, { level: 1 });
  const compressed = (body: Buffer, encoding = "gzip") => ({
    body,
    lines: [`Content-Length: ${body.length}`, `Content-Encoding: ${encoding}`],
  });

  test("O9: who leaves while the body is decompressed leaves nothing behind", async () => {
    const large = compressed(gzip(chat("x".repeat(3 * MB))));
    for (let round = 0; round < 20; round++) await send({ ...large, leaves: "at once" });
    await nothingHeld();
  });

  test("O9: whatever clients send and however they leave, in the end nothing is held", async () => {
    const piece = "x".repeat(300_000);
    const large = chat("y".repeat(2 * MB));
    const keyed = (key: string) => [`Idempotency-Key: ${key}`];
    const sized = (body: string, lines: readonly string[]) => [`Content-Length: ${body.length}`, ...lines];
    const kinds: Omit<Sent, "leaves">[] = [
      { body: chat("Hi") },
      { body: chat("Hi", { stream: true }) },
      { body: chat("[[sim tokens=50 gap_ms=10]]", { stream: true, max_tokens: 50 }) },
      { body: chat("[[sim status=500]]") },
      { body: large },
      { body: chat("Hi", { tools: 5 }) },
      { body: "{" },
      { body: chat("Hi"), key: "none" },
      { body: chat("Hi"), path: "/v1/nothing" },
      { body: chat("Hi"), path: "/v1/svc/count_tokens" },
      { body: chat("Hi"), path: "/v1/svc/dry_run" },
      { body: large, path: "/v1/keys" },
      { body: JSON.stringify({ name: piece.slice(0, 100_000) }), path: "/v1/keys" },
      { body: chat("Hi"), lines: sized(chat("Hi"), ["Content-Type: text/plain"]) },
      { body: chat("Hi"), lines: sized(chat("Hi"), keyed("one")) },
      { body: large, lines: sized(large, keyed("two")) },
      { body: chat("other"), lines: sized(chat("other"), keyed("two")) },
      { body: piece, lines: ["Content-Length: 1000000"] },
      { body: piece, lines: ["Content-Length: 50000000"] },
      { body: `493e0\r\n${piece}\r\n`, lines: ["Transfer-Encoding: chunked"] },
      { body: `493e0\r\n${piece}\r\n0\r\n\r\n`, lines: ["Transfer-Encoding: chunked"] },
      { body: `493e0\r\n${piece}\r\nnonsense\r\n`, lines: ["Transfer-Encoding: chunked"] },
      compressed(gzip(chat("Hi"))),
      compressed(gzip(large)),
      compressed(gzip("x".repeat(20 * MB))),
      compressed(gzip(large).subarray(0, 2000)),
      compressed(Buffer.from("no gzip at all")),
      compressed(gzip(chat("Hi")), "zstd"),
      compressed(gzip(chat("Hi")), "compress"),
      compressed(gzipSync(gzip(large)), "gzip, gzip"),
    ];
    const ways = ["at once", "at the answer", "at its end"] as const;
    let sent = 0;
    const oneAfterAnother = async () => {
      while (sent < CLIENTS) {
        const at = sent++;
        const leaves = ways[Math.floor(at / kinds.length) % ways.length] as Sent["leaves"];
        await send({ ...(kinds[at % kinds.length] as Omit<Sent, "leaves">), leaves });
      }
    };
    await Promise.all(Array.from({ length: 24 }, oneAfterAnother));
    await atRest(gateway);
    await nothingHeld();
    expect((await gateway.chat()).status).toBe(200);
  });
});
