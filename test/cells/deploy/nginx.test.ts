/** The proxy before the cells of the compose file: nginx itself runs with its file, before small servers on addresses of this machine. */
import { spawnSync } from "node:child_process";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createSocketServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { missingNginx, nginxCommand, startNames, startNginx } from "../../support/deploy/cells.fixtures.ts";
import { asImageUser, deployFile } from "../../support/deploy/fixtures.ts";
import { quietPort } from "../../support/process.fixtures.ts";
import { until } from "../../support/wait.ts";

const reason = missingNginx();
const [FIRST, SECOND] = ["127.0.0.2", "127.0.0.3"] as const;

/** The proxy before the addresses that `known` holds, whose servers listen on `port`. */
async function proxyBefore(known: readonly string[]) {
  const port = await quietPort();
  return { port, url: await startNginx(await quietPort(), port, await startNames(() => known)) };
}

/** A server on an address of this machine; it ends with the test. */
async function serve(address: string, port: number, listener: RequestListener): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
}

/** Reads a request, then cuts its connection. @returns how many it has read */
async function serveCuts(address: string, port: number): Promise<() => number> {
  let read = 0;
  const server = createSocketServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      read++;
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  onTestFinished(() => void server.close());
  return () => read;
}

const next = (from: IncomingMessage) =>
  new Promise<string>((resolve) => from.once("data", (data) => resolve(String(data))));

test("nginx takes the file without a complaint, and refuses what is misspelled", ({ skip }) => {
  skip(reason !== undefined, reason);
  const told = (text?: string) => {
    const args = nginxCommand({ listen: "127.0.0.1:8787", cells: 8787, names: 53 }, text);
    const { status, stderr } = spawnSync("nginx", ["-t", "-q", ...args], {
      ...asImageUser,
      encoding: "utf8",
    });
    return { status, stderr };
  };
  expect(told()).toEqual({ status: 0, stderr: "" });
  const text = deployFile("cells.nginx.conf");
  for (const [word, wrong] of [
    ["proxy_buffering off", "proxy_bufering off"],
    ["proxy_next_upstream error timeout", "proxy_next_upstream errors"],
    ["proxy_read_timeout 960s", "proxy_read_timeout 960x"],
  ] as const) {
    expect(text).toContain(word);
    expect(told(text.replace(word, wrong)).status, wrong).toBe(1);
  }
});

test("each piece of a request and of an answer passes before the next one is sent, with the client's own head", async ({
  skip,
}) => {
  skip(reason !== undefined, reason);
  const { port, url } = await proxyBefore([FIRST]);
  const arrived = Promise.withResolvers<{ incoming: IncomingMessage; response: ServerResponse }>();
  await serve(FIRST, port, (incoming, response) => arrived.resolve({ incoming, response }));
  const path = "/v1//chat%2Fcompletions?a=%20b";
  const call = httpRequest(`${url}${path}`, {
    method: "POST",
    headers: { host: "gateway.example.com", "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" },
  });
  const answered = new Promise<IncomingMessage>((resolve) => call.once("response", resolve));
  call.write("piece 0");
  const { incoming, response } = await arrived.promise;
  expect(await next(incoming)).toBe("piece 0");
  call.end("piece 1");
  expect(await next(incoming)).toBe("piece 1");
  expect(incoming.url).toBe(path);
  expect(incoming.headers).toMatchObject({
    host: "gateway.example.com",
    "x-forwarded-for": "192.0.2.1, 127.0.0.1",
    "x-forwarded-proto": "https",
  });
  response.writeHead(200, { "content-type": "text/event-stream" }).write("event 0");
  const answer = await answered;
  expect(await next(answer)).toBe("event 0");
  for (const event of ["event 1", "event 2"]) {
    const heard = next(answer);
    response.write(event);
    expect(await heard).toBe(event);
  }
  // A client that goes away is gone for the cell, too.
  const gone = new Promise((resolve) => response.once("close", resolve));
  call.destroy();
  await gone;
});

test("what a client does not read is not taken from the cell, which sees how slow it is", async ({
  skip,
}) => {
  skip(reason !== undefined, reason);
  const { port, url } = await proxyBefore([FIRST]);
  const answering = Promise.withResolvers<ServerResponse>();
  await serve(FIRST, port, (_, response) => {
    // Far more than buffers of sockets take.
    response.end(Buffer.alloc(64 * 1024 * 1024));
    answering.resolve(response);
  });
  const call = httpRequest(url).end();
  // It may be given up before its answer has begun.
  call.on("error", () => {});
  onTestFinished(() => void call.destroy());
  const response = await answering.promise;
  let [taken, same] = [0, 0];
  await until("nothing more is taken", () => {
    const now = response.socket?.bytesWritten ?? 0;
    same = now > 0 && now === taken ? same + 1 : 0;
    taken = now;
    return same >= 10 || response.writableFinished;
  });
  expect(response.writableFinished).toBe(false);
});

test("a call to a cell that refuses connections, as one that stops, goes to another one with its body", async ({
  skip,
}) => {
  skip(reason !== undefined, reason);
  const { port, url } = await proxyBefore([FIRST, SECOND]);
  await serve(SECOND, port, (incoming, response) => incoming.pipe(response));
  for (let i = 0; i < 20; i++) {
    const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: `call ${i}` });
    expect([answer.status, await answer.text()]).toEqual([200, `call ${i}`]);
  }
});

test("a call that a cell has read is sent to no other cell, and an answer 503 is the client's", async ({
  skip,
}) => {
  skip(reason !== undefined, reason);
  const { port, url } = await proxyBefore([FIRST, SECOND]);
  let calls = 0;
  const read = await serveCuts(FIRST, port);
  await serve(SECOND, port, (incoming, response) => {
    calls++;
    incoming.resume();
    response.writeHead(503, { "retry-after": "1" }).end();
  });
  const statuses: number[] = [];
  const ask = async (init: RequestInit) =>
    void statuses.push((await fetch(`${url}/v1/chat/completions`, init)).status);
  for (let i = 0; i < 20; i++) await ask({ method: "POST", body: "{}" });
  for (let i = 0; i < 20; i++) await ask({ method: "POST" });
  // Each call was read once: nginx begins with either cell, by chance.
  expect(read() + calls).toBe(statuses.length);
  expect(statuses.filter((status) => status === 502)).toHaveLength(read());
  expect(statuses.filter((status) => status === 503)).toHaveLength(calls);
  expect(Math.min(read(), calls)).toBeGreaterThan(0);
});

test("a cell that got a new address is found without a change of the file", async ({ skip }) => {
  skip(reason !== undefined, reason);
  const known: string[] = [FIRST];
  const { port, url } = await proxyBefore(known);
  await serve(FIRST, port, (_, response) => void response.end(FIRST));
  await serve(SECOND, port, (_, response) => void response.end(SECOND));
  const ask = async () => await (await fetch(`${url}/readyz`)).text();
  expect(await ask()).toBe(FIRST);
  known.splice(0, 1, SECOND);
  await until("the other address is asked", async () => (await ask()) === SECOND);
  expect(await ask()).toBe(SECOND);
});
