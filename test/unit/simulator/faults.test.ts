/**
 * What the simulated provider does on the socket, byte by byte, seen by a client that is nothing but a socket:
 * HTTP in awkward shapes, pace, splits, faults, backpressure, and what it notes when a client leaves.
 */
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { equals, until } from "../../support/wait.ts";

let simulator: Simulator;
const clients: RawClient[] = [];

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await until("no call is open", () => simulator.openCalls, equals(0));
});

/** A socket and what came from it, read by read. */
class RawClient {
  readonly socket: Socket;
  readonly reads: Buffer[] = [];
  outcome: "open" | "ended" | "reset" = "open";

  constructor() {
    this.socket = connect({ port: simulator.port, host: "127.0.0.1", noDelay: true });
    this.socket.on("data", (bytes: Buffer) => this.reads.push(bytes));
    this.socket.on("end", () => {
      this.outcome = "ended";
    });
    this.socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET") this.outcome = "reset";
    });
    clients.push(this);
  }

  bytes(): Buffer {
    return Buffer.concat(this.reads);
  }

  head(): string {
    return this.bytes().toString("latin1").split("\r\n\r\n", 1)[0] ?? "";
  }

  /** The body as sent, framing included. */
  rawBody(): Buffer {
    const bytes = this.bytes();
    return bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);
  }

  /** The body without chunk framing, as far as it has come. */
  body(): Buffer {
    return /transfer-encoding: chunked/.test(this.head())
      ? Buffer.concat(dechunk(this.rawBody()))
      : this.rawBody();
  }

  async until(condition: () => boolean): Promise<void> {
    const seen = () => `${this.bytes().length} bytes, ${this.outcome}`;
    await until("the client has what it waits for", seen, condition);
  }

  /** The HTTP message is there to its last byte. */
  whole = (): boolean => {
    const bytes = this.bytes();
    const length = /content-length: (\d+)/.exec(this.head())?.[1];
    if (length !== undefined) return this.rawBody().length >= Number(length);
    return bytes.subarray(-5).toString() === "0\r\n\r\n";
  };
}

function dechunk(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) break;
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (size === 0) break;
    parts.push(bytes.subarray(line + 2, Math.min(line + 2 + size, bytes.length)));
    at = line + 2 + size + 2;
  }
  return parts;
}

const requestBytes = (body: object, headers = "") => {
  const json = JSON.stringify(body);
  const length = Buffer.byteLength(json);
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: sim\r\n${headers}content-length: ${length}\r\n\r\n${json}`;
};

const chat = (instruction: object, stream: boolean, more: object = {}) => ({
  model: "sim-small",
  messages: [{ role: "user", content: "What is a weir?" }],
  stream,
  ...more,
  simulator: instruction,
});

function send(instruction: object, stream: boolean, more: object = {}): RawClient {
  const client = new RawClient();
  client.socket.write(requestBytes(chat(instruction, stream, more)));
  return client;
}

async function sendWhole(instruction: object, stream: boolean, more: object = {}): Promise<RawClient> {
  const client = send(instruction, stream, more);
  await client.until(client.whole);
  return client;
}

const eventsOf = (client: RawClient): string[] => client.body().toString().split("\n\n").filter(Boolean);

describe("HTTP", () => {
  test("keep-alive: one connection, call after call, also when two come in one write", async () => {
    const client = new RawClient();
    const one = requestBytes(chat({ tokens: 1 }, false));
    client.socket.write(one);
    await client.until(client.whole);
    const single = client.bytes().length;
    client.socket.write(one + one);
    await client.until(() => client.bytes().length === 3 * single);
    expect(client.outcome).toBe("open");
  });

  test("a chunked body and Expect: 100-continue", async () => {
    const client = new RawClient();
    const headers = "host: sim\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n";
    client.socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${headers}\r\n`);
    await client.until(() => client.head() === "HTTP/1.1 100 Continue");
    client.reads.length = 0;
    const json = JSON.stringify(chat({ tokens: 2 }, false));
    for (let at = 0; at < json.length; at += 50) {
      const part = json.slice(at, at + 50);
      client.socket.write(`${part.length.toString(16)};note=1\r\n${part}\r\n`);
    }
    client.socket.write("0\r\ntrailer: x\r\n\r\n");
    await client.until(client.whole);
    expect(JSON.parse(client.body().toString())).toMatchObject({ usage: { completion_tokens: 2 } });
  });
});

describe("pace", () => {
  test("first_ms before the head, header_then_ms before the first event, gap_ms between events", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const calls = simulator.totalCalls;
      const client = send({ tokens: 2, first_ms: 40, header_then_ms: 30, gap_ms: 20 }, true);
      await until("the call is there", () => simulator.totalCalls, equals(calls + 1));
      for (const [at, ms] of [40, 30, 20, 20, 20, 20].entries()) {
        vi.advanceTimersByTime(ms - 1);
        // What is written is known at once.
        expect(simulator.calls.at(-1)?.bytesWritten).toBe(client.bytes().length);
        vi.advanceTimersByTime(1);
        await client.until(() => client.reads.length === at + 1);
        await client.until(() => simulator.calls.at(-1)?.bytesWritten === client.bytes().length);
      }
      expect(client.reads[0]?.toString().endsWith("\r\n\r\n")).toBe(true);
      expect(client.reads).toHaveLength(6);
      await client.until(client.whole);
    } finally {
      vi.useRealTimers();
    }
  });

  test("burst overrides a gap; one_write sends all in a single write", async () => {
    const burst = await sendWhole({ tokens: 30, gap_ms: 60_000, burst: true }, true);
    const single = await sendWhole({ tokens: 30, one_write: true }, true);
    expect(single.reads).toHaveLength(1);
    expect(single.body()).toEqual(burst.body());
    expect(dechunk(burst.rawBody())).toHaveLength(33);
    expect(dechunk(single.rawBody())).toHaveLength(1);
  });

  test('usage "split": the usage and [DONE] arrive late and apart', async () => {
    const more = { stream_options: { include_usage: true } };
    const client = await sendWhole({ tokens: 2, usage: "split" }, true, more);
    const last = client.reads.slice(-2).map(String);
    expect(last[0]).toContain('"choices":[],"usage":{');
    expect(last[0]).not.toContain("[DONE]");
    expect(last[1]).toContain("data: [DONE]");
  });
});

describe("shape of the bytes", () => {
  const plain = (stream: boolean) => sendWhole({ unicode: true, tokens: 6 }, stream);

  test.each([true, false])(
    "split_every 1: every byte a read of its own, the same bytes (stream: %s)",
    async (stream) => {
      const client = await sendWhole({ unicode: true, tokens: 6, split_every: 1 }, stream);
      const whole = (await plain(stream)).body();
      expect(client.body()).toEqual(whole);
      expect(client.reads.length).toBe(whole.length + 1);
    },
  );

  test("split: pieces between the given offsets, past the end ignored", async () => {
    const client = await sendWhole({ unicode: true, tokens: 6, split: [700, 10, 11, 99_999_999] }, true);
    const whole = (await plain(true)).body();
    const parts = dechunk(client.rawBody());
    expect(parts.map((part) => part.length)).toEqual([10, 1, 689, whole.length - 700]);
    expect(Buffer.concat(parts)).toEqual(whole);
    expect(client.reads).toHaveLength(5);
  });

  test("crlf and comments", async () => {
    const text = (await sendWhole({ tokens: 2, crlf: true, comments: true }, true)).body().toString();
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    const parts = text.split("\r\n\r\n").slice(0, -1);
    expect(parts.filter((part) => part.startsWith(": "))).toHaveLength(5);
    expect(parts.filter((part) => part.startsWith("data: "))).toHaveLength(5);
  });

  test.each([true, false])("gzip (stream: %s)", async (stream) => {
    const client = await sendWhole({ unicode: true, tokens: 6, gzip: true }, stream);
    expect(client.head()).toContain("content-encoding: gzip");
    expect(gunzipSync(client.body())).toEqual((await plain(stream)).body());
  });
});

describe("faults", () => {
  test("reset: before any byte", async () => {
    const client = send({ fault: "reset" }, true);
    await client.until(() => client.outcome === "reset");
    expect(client.bytes()).toHaveLength(0);
    expect(simulator.calls.at(-1)).toMatchObject({ ended: true, closedByPeer: false, bytesWritten: 0 });
  });

  test("hang: accepts, never answers, and notes when the client gives up", async () => {
    const before = simulator.totalCalls;
    const client = send({ fault: "hang" }, false);
    await until("the call is open", () => simulator.totalCalls > before && simulator.openCalls === 1);
    const hanging = simulator.calls.at(-1);
    // A call that came later is answered whole.
    await sendWhole({}, true);
    expect(client.bytes()).toHaveLength(0);
    client.socket.destroy();
    await until("the simulator has seen the client leave", () => hanging?.closedByPeer);
    expect(simulator.openCalls).toBe(0);
  });

  test("half_json: half of the promised length, then the end", async () => {
    const client = send({ fault: "half_json" }, false);
    await client.until(() => client.outcome === "ended");
    const promised = Number(/content-length: (\d+)/.exec(client.head())?.[1]);
    expect(client.rawBody().length).toBe(Math.floor(promised / 2));
  });

  test("reset_mid: the events before it arrive, then a reset", async () => {
    const client = send({ fault: "reset_mid", after: 4 }, true);
    await client.until(() => client.outcome === "reset");
    expect(eventsOf(client)).toHaveLength(4);
  });

  test("close_mid: a proper end of the message without [DONE]", async () => {
    const client = await sendWhole({ fault: "close_mid", after: 4 }, true);
    expect(eventsOf(client)).toHaveLength(4);
    expect(client.body().toString()).not.toContain("[DONE]");
    expect(client.outcome).toBe("open");
  });

  test("cut_mid: the connection ends inside the message", async () => {
    const client = send({ fault: "cut_mid", after: 4 }, true);
    await client.until(() => client.outcome === "ended");
    expect(eventsOf(client)).toHaveLength(4);
    expect(client.whole()).toBe(false);
  });

  test.each([
    ["reset_mid", "reset"],
    ["close_mid", "ended"],
    ["cut_mid", "ended"],
  ])("%s on a call that is not streamed cuts the body in half", async (fault, outcome) => {
    const client = send({ fault }, false);
    await client.until(() => client.outcome === outcome);
    expect(client.whole()).toBe(false);
    expect(client.rawBody().length).toBeGreaterThan(100);
  });

  test("error_first and error_mid: a 200 whose event is an error", async () => {
    const first = await sendWhole({ fault: "error_first", error_code: "overloaded" }, true);
    expect(first.head()).toMatch(/200 OK/);
    expect(eventsOf(first)).toHaveLength(1);
    expect(eventsOf(first)[0]).toMatch(/^data: {"error":{.*"code":"overloaded"}}$/);
    const mid = await sendWhole({ fault: "error_mid", after: 2 }, true);
    expect(eventsOf(mid)).toHaveLength(3);
    expect(eventsOf(mid)[2]).toMatch(/^data: {"error":/);
    const whole = await sendWhole({ fault: "error_first" }, false);
    expect(whole.head()).toMatch(/200 OK/);
    expect(JSON.parse(whole.body().toString())).toHaveProperty("error.message");
  });

  test("malformed: one broken event, the others as they would be", async () => {
    const broken = eventsOf(await sendWhole({ fault: "malformed", after: 4 }, true));
    const well = eventsOf(await sendWhole({}, true));
    expect(broken).toHaveLength(well.length);
    expect(broken.filter((event, i) => event !== well[i])).toEqual([broken[4]]);
    expect(() => JSON.parse((broken[4] ?? "").slice(6))).toThrow(SyntaxError);
    const whole = await sendWhole({ fault: "malformed" }, false);
    expect(() => JSON.parse(whole.body().toString())).toThrow(SyntaxError);
  });

  test("no_final_newline: [DONE] is the last byte", async () => {
    const client = await sendWhole({ fault: "no_final_newline" }, true);
    expect(client.body().toString().endsWith("\n\ndata: [DONE]")).toBe(true);
  });

  test("no_newline_ever: bytes without a newline until the client leaves", async () => {
    const client = send({ fault: "no_newline_ever" }, true);
    await client.until(() => client.bytes().length > 2_000_000);
    expect(Buffer.concat(dechunk(client.rawBody())).includes("\n")).toBe(false);
    client.socket.destroy();
    await until(
      "the simulator has seen the client leave",
      () => simulator.calls.at(-1)?.closedByPeer === true,
    );
  });

  test("stall: some events, then silence", async () => {
    const client = send({ fault: "stall", after: 4 }, true);
    await client.until(() => eventsOf(client).length === 4);
    await sendWhole({}, true);
    expect(eventsOf(client)).toHaveLength(4);
    expect(client.outcome).toBe("open");
    expect(simulator.openCalls).toBe(1);
  });

  test("wrong_type, with a status if told, and empty_body", async () => {
    const page = await sendWhole({ fault: "wrong_type" }, true);
    expect(page.head()).toMatch(/200 OK[\s\S]*content-type: text\/html/);
    const gateway = await sendWhole({ fault: "wrong_type", status: 502 }, false);
    expect(gateway.head()).toMatch(/502 Bad Gateway[\s\S]*content-type: text\/html/);
    const json = await sendWhole({ fault: "empty_body" }, false);
    expect(json.head()).toContain("content-length: 0");
    const stream = await sendWhole({ fault: "empty_body" }, true);
    expect(stream.body()).toHaveLength(0);
  });
});

describe("what it notes", () => {
  test("a client that leaves mid-stream is seen, and nothing more is sent", async () => {
    const client = send({ tokens: 1_000, gap_ms: 5 }, true);
    await client.until(() => eventsOf(client).length >= 2);
    client.socket.destroy();
    await until("no call is open", () => simulator.openCalls, equals(0));
    const call = simulator.calls.at(-1);
    expect(call).toMatchObject({ closedByPeer: true, method: "POST", path: "/v1/chat/completions" });
    expect(JSON.parse(call?.body.toString() ?? "")).toMatchObject({ stream: true });
    expect(call?.headers.host).toBe("sim");
    const written = call?.bytesWritten;
    // Another call of that pace is written meanwhile.
    await sendWhole({ tokens: 5, gap_ms: 5 }, true);
    expect(call?.bytesWritten).toBe(written);
  });

  test("a whole reply is not a departure, and its bytes are counted", async () => {
    const client = await sendWhole({}, true);
    await until("no call is open", () => simulator.openCalls, equals(0));
    client.socket.destroy();
    expect(simulator.calls.at(-1)).toMatchObject({
      closedByPeer: false,
      bytesWritten: client.bytes().length,
    });
  });

  test("a reader that pauses pauses the provider, and gets every byte once it reads again", async () => {
    const totalBytes = 64 * 1024 * 1024;
    const client = new RawClient();
    client.socket.pause();
    client.socket.write(requestBytes(chat({ total_bytes: totalBytes }, true)));
    await until("the call is open", () => simulator.openCalls, equals(1));
    const call = simulator.calls.at(-1);
    const aroundOther = async () => {
      const before = call?.bytesWritten ?? 0;
      await sendWhole({ total_bytes: 1_000_000 }, true);
      return [before, call?.bytesWritten ?? 0] as const;
    };
    const [seen] = await until(
      "the provider writes nothing while it answers another",
      aroundOther,
      ([before, after]) => before > 0 && before === after,
    );
    // What the kernel buffers on both sides, and no more.
    expect(seen).toBeLessThan(totalBytes / 4);
    let received = 0;
    client.socket.removeAllListeners("data");
    client.socket.on("data", (bytes: Buffer) => {
      received += bytes.length;
    });
    client.socket.resume();
    await until("no call is open", () => simulator.openCalls, equals(0));
    expect(call?.bytesWritten).toBeGreaterThan(totalBytes);
    await until("every byte is received", () => received, equals(call?.bytesWritten));
  });
});
