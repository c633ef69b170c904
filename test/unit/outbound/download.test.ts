/** Downloads over real sockets: where redirects may lead, what is asked for, and how one ends early. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DownloadRequest, download } from "../../../src/outbound/download.ts";
import type { Outbound } from "../../../src/outbound/send.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "../../support/outbound/certificates.ts";
import {
  answerOf,
  openTest,
  outboundRig,
  rulesOf,
  startReceiver,
  WITH_LOOPBACK,
} from "../../support/outbound/fixtures.ts";

const rig = outboundRig();
let got: Buffer[];
beforeEach(() => {
  got = [];
});

const take = (chunk: Buffer): boolean => {
  got.push(chunk);
  return true;
};

const load = (url: string, more: Partial<DownloadRequest> = {}, outbound: Outbound = rig.outbound) =>
  download(outbound, {
    url,
    rules: WITH_LOOPBACK,
    accept: "image/*",
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    begin: () => ({ take }),
    ...more,
  });

const messageOf = (loading: Promise<void>): Promise<string> =>
  loading.then(
    () => "no failure",
    (error: Error) => error.message,
  );

const leadTo = (to: string) => {
  rig.receiver.answer = (socket) => socket.write(answerOf("", `location: ${to}\r\n`, "302 Found"));
};

describe("a redirect", () => {
  test.each([
    ["to a private address", "http://10.1.1.1/", "Calls to this address and port are not allowed."],
    ["to the metadata service", "http://169.254.169.254/", "Calls to this address and port are not allowed."],
    ["to a private name", "https://db.internal/", "Calls to hosts of a private network are not allowed."],
    ["with a password", "https://a:b@example.com/", "The URL must not contain a user name or a password."],
    ["to another scheme", "ftp://example.com/", "The URL must begin with https:// or http://."],
    ["to no URL", "http://", "It is redirected to what is no URL."],
  ])("S16: %s is not followed", async (_, to, message) => {
    leadTo(to);
    expect(await messageOf(load(rig.receiver.url))).toBe(message);
  });

  test.each([
    ["escaped", "/gr%C3%B6%C3%9Fe.png"],
    ["as UTF-8", "/größe.png"],
    ["as Latin-1", Buffer.from("/größe.png", "latin1")],
  ])("to a path that is written %s is followed", async (_, path) => {
    rig.receiver.answer = (socket) => {
      const isFirst = rig.receiver.heads.length === 1;
      if (!isFirst) return socket.write(answerOf("x"));
      const [before = "", after = ""] = answerOf("", "location: @\r\n", "302 Found").split("@");
      return socket.write(Buffer.concat([Buffer.from(before), Buffer.from(path), Buffer.from(after)]));
    };
    await load(rig.receiver.url);
    expect(rig.receiver.heads[1]).toContain("GET /gr%C3%B6%C3%9Fe.png ");
  });

  test("S16: to a name that has a private address is not followed", async () => {
    leadTo("https://inner.example.com/");
    const outbound = openTest({ resolve: () => Promise.resolve(["192.168.1.1"]) });
    expect(await messageOf(load(rig.receiver.url, {}, outbound))).toBe(
      "Calls to the address of this host are not allowed.",
    );
    outbound.close();
  });

  test("from https to http is not followed", async () => {
    const receiver = await startReceiver({ cert: CERTIFICATE, key: KEY });
    receiver.answer = (socket) =>
      socket.write(answerOf("", `location: ${rig.receiver.url}\r\n`, "301 Moved"));
    const outbound = openTest({ ca: [AUTHORITY], resolve: () => Promise.resolve(["127.0.0.1"]) });
    const message = await messageOf(load(`https://hooks.example.test:${receiver.port}/`, {}, outbound));
    expect(message).toBe("It is redirected from https:// to http://.");
    expect(rig.receiver.heads).toEqual([]);
    outbound.close();
    await receiver.close();
  });
});

describe("http:// beyond this machine", () => {
  const url = "http://example.com/";
  let outbound: Outbound;
  beforeEach(() => {
    outbound = openTest({ rules: rulesOf([]), resolve: () => Promise.resolve(["192.168.1.1"]) });
  });
  afterEach(() => outbound.close());

  test("is looked up for a download", async () => {
    expect(await messageOf(load(url, { rules: rulesOf([]) }, outbound))).toBe(
      "Calls to the address of this host are not allowed.",
    );
  });

  test("is refused for what is sent", async () => {
    await expect(outbound.send({ url, method: "POST" })).rejects.toThrow("The URL must begin with https://.");
  });
});

test("the body comes as it is, and a kept connection is used again", async () => {
  rig.receiver.answer = (socket) => socket.write(answerOf("x".repeat(200_000)));
  await load(rig.receiver.url);
  await load(rig.receiver.url);
  expect(Buffer.concat(got)).toHaveLength(400_000);
  expect(rig.receiver.sockets).toHaveLength(1);
});

test("a sink that wants no more ends it without a failure, and the connection", async () => {
  rig.receiver.answer = (socket) => socket.write(answerOf("x".repeat(10_000_000)));
  await load(rig.receiver.url, { begin: () => ({ take: () => false }) });
  expect(rig.outbound.connections).toBeLessThanOrEqual(1);
});

test.each(["before", "while"])("its signal ends it %s it is under way", async (when) => {
  const ended = new AbortController();
  rig.receiver.answer = () => ended.abort();
  if (when === "before") ended.abort();
  await expect(load(rig.receiver.url, { signal: ended.signal })).rejects.toMatchObject({ kind: "cancelled" });
  expect(rig.receiver.heads).toHaveLength(when === "before" ? 0 : 1);
});
