/** What a tenant's URL cannot reach, shown on real sockets that would see a connection. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Outbound } from "../../../src/outbound/send.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "../../support/outbound/certificates.ts";
import {
  answerOf,
  failureOf,
  kindOf,
  openTest,
  PUBLIC_ONLY,
  type Receiver,
  rulesOf,
  startReceiver,
} from "../../support/outbound/fixtures.ts";

let receiver: Receiver;
let opened: Outbound[];
beforeEach(async () => {
  receiver = await startReceiver();
  opened = [];
});
afterEach(async () => {
  for (const outbound of opened) outbound.close();
  await receiver.close();
});

const open = (...[options]: Parameters<typeof openTest>): Outbound => {
  const outbound = openTest(options);
  opened.push(outbound);
  return outbound;
};

/** Behind all that has been dialled so far: a call that is allowed, the first that the receiver may see. */
async function connectionsBefore(): Promise<number> {
  await open().send({ url: receiver.url, method: "POST" });
  return receiver.sockets.length - 1;
}

describe("nothing is dialled", () => {
  test.each([
    ["that is no public address", (port: number) => `https://127.0.0.1:${port}/`],
    ["that is localhost", (port: number) => `https://localhost:${port}/`],
    ["without TLS", (port: number) => `http://127.0.0.1:${port}/`],
    ["that is an address in disguise", (port: number) => `https://[::ffff:7f00:1]:${port}/`],
    ["behind a user name", (port: number) => `https://hooks.example.com@127.0.0.1:${port}/`],
  ])("%s, though it has been saved when it was allowed", async (_, urlOf) => {
    const outbound = open({ rules: PUBLIC_ONLY });
    const failure = await failureOf(outbound.send({ url: urlOf(receiver.port), method: "POST" }));
    expect(failure.kind).toBe("refused_address");
    expect(outbound.connections).toBe(0);
    expect(await connectionsBefore()).toBe(0);
  });

  test.each([
    ["the receiver's", ["127.0.0.1"]],
    ["a public one and the receiver's", ["1.1.1.1", "127.0.0.1"]],
    ["the receiver's in disguise", ["::ffff:127.0.0.1"]],
  ])("where a name's addresses are %s", async (_, addresses) => {
    const outbound = open({ rules: PUBLIC_ONLY, resolve: () => Promise.resolve(addresses) });
    const url = `https://hooks.example.com:${receiver.port}/`;
    const failure = await failureOf(outbound.send({ url, method: "POST" }));
    expect([failure.kind, failure.message]).toEqual([
      "refused_address",
      "Calls to the address of this host are not allowed.",
    ]);
    expect(outbound.connections).toBe(0);
    expect(await connectionsBefore()).toBe(0);
  });

  test("where an allowed address comes with one that is not", async () => {
    const resolve = () => Promise.resolve(["127.0.0.1", "169.254.169.254"]);
    const url = `https://hooks.example.com:${receiver.port}/`;
    expect(await kindOf(open({ resolve }).send({ url, method: "POST" }))).toBe("refused_address");
    expect(await connectionsBefore()).toBe(0);
  });

  test("where the port is the gateway's own, though loopback is allowed", async () => {
    const rules = rulesOf(["127.0.0.0/8", "::1/128"], { ownPorts: () => [receiver.port] });
    const outbound = open({ rules, resolve: () => Promise.resolve(["127.0.0.1"]) });
    for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "hooks.example.com"]) {
      const url = `https://${host}:${receiver.port}/`;
      expect(await kindOf(outbound.send({ url, method: "POST" })), host).toBe("refused_address");
    }
    expect(await connectionsBefore()).toBe(0);
  });
});

describe("a name whose addresses change", () => {
  let secure: Receiver;
  let nowMs: number;
  let answers: string[][];
  let outbound: Outbound;
  beforeEach(async () => {
    secure = await startReceiver({ cert: CERTIFICATE, key: KEY });
    nowMs = 0;
    answers = [["127.0.0.1"], ["169.254.169.254"], ["169.254.169.254"]];
    outbound = open({
      rules: rulesOf(["127.0.0.1/32"]),
      ca: [AUTHORITY],
      clock: { now: () => 0, monotonic: () => nowMs },
      resolve: () => Promise.resolve(answers.shift() ?? []),
    });
  });
  afterEach(() => secure.close());

  const send = () => outbound.send({ url: `https://hooks.example.test:${secure.port}/`, method: "POST" });

  test("is looked up once for a call: what was checked is what is dialled", async () => {
    expect((await send()).status).toBe(200);
    expect(answers).toHaveLength(2);
  });

  test("is refused from its next look-up on, also where a connection was kept", async () => {
    await send();
    nowMs = 29_999;
    await send();
    nowMs = 30_000;
    expect(await kindOf(send())).toBe("refused_address");
    expect([secure.sockets.length, secure.heads.length]).toEqual([1, 2]);
  });
});

test("S2: nothing is sent where something of the installation began to listen meanwhile", async () => {
  const rules = rulesOf(["127.0.0.0/8"], {
    ownPorts: () => (outbound.connections === 0 ? [] : [receiver.port]),
  });
  const outbound: Outbound = open({ rules });
  const failure = await failureOf(outbound.send({ url: receiver.url, method: "POST", body: "{}" }));
  expect(failure.kind).toBe("refused_address");
  await open().send({ url: receiver.url, method: "POST" });
  expect(receiver.heads).toHaveLength(1);
});

test("S2: a kept connection of whoever may reach an address is not used for an org that may not", async () => {
  const outbound = open();
  const request = { url: receiver.url, method: "POST", body: "{}" };
  expect((await outbound.send(request)).status).toBe(200);
  expect(outbound.connections).toBe(1);
  expect(await kindOf(outbound.send({ ...request, rules: PUBLIC_ONLY }))).toBe("refused_address");
  expect(receiver.heads).toHaveLength(1);
});

test("S2: a failure at an address that is not public has a message without detail for the tenant", async () => {
  receiver.answer = (socket) => socket.write("inner\r\n\r\n");
  const failure = await failureOf(open().send({ url: receiver.url, method: "POST" }));
  expect([failure.kind, failure.isShown]).toEqual(["protocol", false]);
  expect(failure.message).toContain("(HPE_");
  expect(failure.shownMessage).toBe(
    "There was no valid answer. No more is shown of an address that is not public.",
  );
});

test.each([301, 302, 303, 307, 308])("a redirect (%i) is an answer, and is not followed", async (status) => {
  const inner = await startReceiver();
  receiver.answer = (socket) =>
    socket.write(
      answerOf("", `location: ${inner.url}\r\nrefresh: 0; url=${inner.url}\r\n`, `${status} Moved`),
    );
  const outbound = open();
  const answer = await outbound.send({ url: receiver.url, method: "POST", body: "{}" });
  expect(answer.status).toBe(status);
  await outbound.send({ url: inner.url, method: "POST" });
  expect(inner.sockets).toHaveLength(1);
  await inner.close();
});

test("a proxy of the environment is not asked", async () => {
  const proxy = await startReceiver();
  const from = (file: string) => JSON.stringify(new URL(`../../../src/${file}`, import.meta.url).href);
  const program = `
    import { systemClock } from ${from("base/clock.ts")};
    import { openOutbound } from ${from("outbound/send.ts")};
    import { readAllow } from ${from("outbound/rules.ts")};
    const rules = { allow: readAllow(["127.0.0.0/8"]), ownPorts: () => [], ownAddresses: () => new Set() };
    const outbound = openOutbound({ rules, clock: systemClock });
    const answer = await outbound.send({ url: ${JSON.stringify(receiver.url)}, method: "POST" });
    console.log(answer.status, String(answer.body));
    outbound.close();
  `;
  const at = `http://127.0.0.1:${proxy.port}`;
  const proxies = { HTTP_PROXY: at, http_proxy: at, HTTPS_PROXY: at, ALL_PROXY: at, NODE_USE_ENV_PROXY: "1" };
  const ran = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, ...proxies, NO_PROXY: "", no_proxy: "" },
  });
  expect(ran.stdout).toBe("200 ok\n");
  expect(proxy.sockets).toHaveLength(0);
  expect(receiver.heads[0]).toMatch(/^POST \/hook HTTP\/1\.1\r\n/);
  await proxy.close();
});
