/** Proxies that answer oddly: each is a network error of the attempt with a code that says what was odd, and nothing hangs or throws. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import { readProxyAddress } from "../../../../../src/base/network/proxy-address.ts";
import { ConnectionPool } from "../../../../../src/inference/upstream/http/pool.ts";
import { equals, until } from "../../../../support/wait.ts";
import { send } from "./raw-provider.ts";

/** What a proxy writes at its nth read: bytes, several writes, or the end. */
type Step = readonly (string | Buffer | "end" | "reset")[];

let open: { close(): unknown }[] = [];
afterEach(async () => {
  const closing = open.reverse();
  open = [];
  for (const one of closing) await one.close();
});

interface Scripted {
  readonly authority: string;
  /** What it read. */
  readonly read: Buffer[];
}

/** A proxy that answers each read by the next step of its script, each piece in a turn of its own. */
async function scripted(...steps: readonly Step[]): Promise<Scripted> {
  const sockets: Socket[] = [];
  const read: Buffer[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket.setNoDelay(true).on("error", () => {}));
    let at = 0;
    socket.on("data", async (bytes: Buffer) => {
      read.push(bytes);
      for (const piece of steps[at++] ?? []) {
        if (piece === "end") socket.end();
        else if (piece === "reset") socket.resetAndDestroy();
        else await new Promise((resolve) => socket.write(piece, () => setImmediate(resolve)));
      }
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return { authority: `127.0.0.1:${(server.address() as AddressInfo).port}`, read };
}

async function heardOf(origin: string, proxy: string, connectTimeoutMs = 20_000): Promise<readonly string[]> {
  const pool = new ConnectionPool(origin, connectTimeoutMs, systemClock, readProxyAddress(proxy));
  open.push(pool);
  const call = send(pool);
  await call.done;
  await until("no connection is open", () => pool.connections, equals(0));
  return call.heard;
}

const bytes = (...all: readonly number[]): Buffer => Buffer.from(all);
const GREETED = bytes(5, 0);
const ASKED_FOR_PASSWORD = bytes(5, 2);
const FOUR = [1, 127, 0, 0, 1, 0, 80];
const GRANTED = bytes(5, 0, 0, ...FOUR);
const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\na";
const WELL = ["sent", "200", '"a"', "end"];

/** What came before a reset may be lost with it. */
const RESET = "proxy_(?:ECONNRESET|connection_closed)";
const exactly = (code: string): RegExp => new RegExp(`^${code}$`);

describe("SOCKS: is understood", () => {
  const name = Buffer.alloc(255, "n");
  test.each<readonly [what: string, greeting: Step, reply: Step]>([
    ["byte by byte", [bytes(5), bytes(0)], [...GRANTED].map((byte) => bytes(byte))],
    ["with the longest name", [GREETED], [Buffer.concat([bytes(5, 0, 0, 3, 255), name, bytes(0, 80)])]],
    ["with a name of nothing", [GREETED], [bytes(5, 0, 0, 3, 0, 0, 80)]],
    [
      "with an address of IPv6",
      [GREETED],
      [Buffer.concat([bytes(5, 0, 0, 4), Buffer.alloc(16), bytes(0, 80)])],
    ],
    ["with a reserved byte", [GREETED], [bytes(5, 0, 7, ...FOUR)]],
    ["with an address of nothing", [GREETED], [bytes(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)]],
  ])("a reply %s", async (_, greeting, reply) => {
    const { authority } = await scripted(greeting, reply, [ANSWER, "end"]);
    expect(await heardOf("http://provider.test", `socks5h://${authority}`)).toEqual(WELL);
  });
});

describe("SOCKS: is an error of the proxy", () => {
  test.each<readonly [what: string, steps: readonly Step[], code: string]>([
    ["nothing, and the end", [["end"]], "proxy_connection_closed"],
    ["half a greeting", [[bytes(5), "end"]], "proxy_connection_closed"],
    ["the greeting, and the end", [[GREETED, "end"]], "proxy_connection_closed"],
    ["the greeting, and a reset", [[GREETED, "reset"]], RESET],
    ["half a reply", [[GREETED], [GRANTED.subarray(0, 6), "end"]], "proxy_connection_closed"],
    ["half a name", [[GREETED], [bytes(5, 0, 0, 3, 200, 1, 2), "end"]], "proxy_connection_closed"],
    ["SOCKS 4", [[bytes(0, 90, 0, 0, 0, 0, 0, 0)]], "proxy_invalid_answer"],
    ["another version in the reply", [[GREETED], [bytes(4, 0, 0, ...FOUR)]], "proxy_invalid_answer"],
    ["another version in a refusal", [[GREETED], [bytes(0, 5, 0, ...FOUR)]], "proxy_socks_ConnectionRefused"],
    ["HTTP", [["HTTP/1.1 400 Bad request\r\n\r\n", "end"]], "proxy_invalid_answer"],
    ["no method that we have", [[bytes(5, 0xff)]], "proxy_socks_password_needed"],
    ["a method that we have not (GSSAPI)", [[bytes(5, 1)]], "proxy_invalid_answer"],
    ["a password that was not offered", [[ASKED_FOR_PASSWORD], [bytes(1, 1)]], "proxy_socks_password_needed"],
    [
      "an unknown kind of address",
      [[GREETED], [bytes(5, 0, 0, 9, 1, 2, 3, 4, 5, 6)]],
      "proxy_invalid_answer",
    ],
    ["a refusal", [[GREETED], [bytes(5, 5, 0, ...FOUR)]], "proxy_socks_ConnectionRefused"],
    ["a refusal of five bytes", [[GREETED], [bytes(5, 4, 0, 1, 0)]], "proxy_socks_HostUnreachable"],
    ["an unknown refusal", [[GREETED], [bytes(5, 200, 0, ...FOUR)]], "proxy_socks_undefined"],
    [
      "the target's bytes with the reply",
      [[GREETED], [Buffer.concat([GRANTED, Buffer.from(ANSWER)])]],
      "proxy_invalid_answer",
    ],
    ["garbage without an end", [[Buffer.alloc(100_000, 5)]], "proxy_invalid_answer"],
  ])("%s", async (_, steps, code) => {
    const { authority } = await scripted(...steps);
    expect(await heardOf("http://provider.test", `socks5h://${authority}`)).toEqual([
      expect.stringMatching(exactly(code)),
    ]);
  });

  test.each<readonly [what: string, steps: readonly Step[], code: string]>([
    ["a refused password", [[ASKED_FOR_PASSWORD], [bytes(1, 1)]], "proxy_socks_password_refused"],
    [
      "a refused password, and the end",
      [[ASKED_FOR_PASSWORD], [bytes(1, 1), "end"]],
      "proxy_socks_password_refused",
    ],
    ["half an answer to it", [[ASKED_FOR_PASSWORD], [bytes(1), "end"]], "proxy_connection_closed"],
    ["the end instead", [[ASKED_FOR_PASSWORD], ["end"]], "proxy_connection_closed"],
    [
      "the reply together with the answer",
      [[ASKED_FOR_PASSWORD], [Buffer.concat([bytes(1, 0), GRANTED])]],
      "proxy_invalid_answer",
    ],
  ])("%s", async (_, steps, code) => {
    const { authority } = await scripted(...steps);
    expect(await heardOf("http://provider.test", `socks5h://me:s3cret@${authority}`)).toEqual([
      expect.stringMatching(exactly(code)),
    ]);
  });

  test("silence within a reply", async () => {
    for (const steps of [[[GREETED]], [[GREETED], [GRANTED.subarray(0, 4)]], [[ASKED_FOR_PASSWORD]]]) {
      const { authority } = await scripted(...steps);
      expect(await heardOf("http://provider.test", `socks5h://me:s3cret@${authority}`, 60)).toEqual([
        "proxy_timeout",
      ]);
    }
  });

  test("a name that SOCKS cannot carry is not asked for", async () => {
    const { authority, read } = await scripted([GREETED], [GRANTED]);
    const host = `${"n".repeat(60)}.`.repeat(5);
    expect(await heardOf(`http://${host}test`, `socks5h://${authority}`)).toEqual(["proxy_name_too_long"]);
    expect(Buffer.concat(read).length).toBe(0);
  });
});

describe("CONNECT: is an error of the proxy", () => {
  const many = (count: number): string => `x-${"y".repeat(60)}: z\r\n`.repeat(count);
  test.each<readonly [what: string, step: Step, code: string]>([
    [
      "a page",
      ["HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\n\r\n<html><title>Blocked</title>", "end"],
      "proxy_403",
    ],
    ["a page, and no end", ["HTTP/1.1 403 Forbidden\r\n\r\n<html>"], "proxy_403"],
    ["a redirection to a login", ["HTTP/1.1 301 Moved\r\nlocation: http://login.test/\r\n\r\n"], "proxy_301"],
    ["a sign-in that is not ours", ["HTTP/1.1 407 x\r\nproxy-authenticate: NTLM\r\n\r\n"], "proxy_407"],
    ["a head of 80 KB", [`HTTP/1.1 200 OK\r\n${many(1_200)}\r\n`], "proxy_head_too_large"],
    [
      "a head of 80 KB in pieces",
      ["HTTP/1.1 200 OK\r\n", ...Array(80).fill(many(15))],
      "proxy_head_too_large",
    ],
    ["heads of 100 without an end", ["HTTP/1.1 100 Continue\r\n\r\n".repeat(2_000)], "proxy_head_too_large"],
    ["another protocol", ["ICY 200 OK\r\n\r\n"], "proxy_invalid_answer"],
    ["HTTP/2", ["HTTP/2 200\r\n\r\n"], "proxy_invalid_answer"],
    ["a status of two digits", ["HTTP/1.1 20\r\n\r\n"], "proxy_invalid_answer"],
    ["a status of four digits", ["HTTP/1.1 2000 OK\r\n\r\n"], "proxy_invalid_answer"],
    ["lines that end in LF alone", ["HTTP/1.1 200 OK\n\n"], "proxy_invalid_answer"],
    ["no HTTP, and no end", ["+OK POP3 server ready\r\n"], "proxy_invalid_answer"],
    ["TLS", [bytes(0x15, 3, 1, 0, 2, 2, 70)], "proxy_invalid_answer"],
    ["100 and the end", ["HTTP/1.1 100 Continue\r\n\r\n", "end"], "proxy_connection_closed"],
    ["a reset", ["HTTP/1.1 200 OK\r\nx:", "reset"], RESET],
  ])("%s", async (_, step, code) => {
    const { authority } = await scripted(step);
    expect(await heardOf("https://provider.test", `http://${authority}`)).toEqual([
      expect.stringMatching(exactly(code)),
    ]);
  });

  test.each<readonly [what: string, step: Step]>([
    ["a body behind 200", ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"]],
    ["a page behind 200", ["HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html><title>Log in</title>"]],
    ["the end behind 200", ["HTTP/1.1 200 OK\r\n\r\n", "end"]],
    ["a reset behind 200", ["HTTP/1.1 200 OK\r\n\r\n", "reset"]],
  ])("%s is no provider's TLS", async (_, step) => {
    const { authority } = await scripted(step);
    const [code, ...more] = await heardOf("https://provider.test", `http://${authority}`);
    expect([code, more]).toEqual([
      expect.stringMatching(/^(?:ERR_SSL_|ECONNRESET|EPIPE|connection_closed|EPROTO)/),
      [],
    ]);
  });
});
