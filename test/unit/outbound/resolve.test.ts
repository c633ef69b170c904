/** Names and their addresses: all are looked at, one that is not allowed refuses the name, and a change of DNS is seen. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock, systemTimers, type Timers } from "../../../src/base/clock.ts";
import { dnsResolve, type Names, openNames } from "../../../src/outbound/resolve.ts";
import { readTarget, type Target } from "../../../src/outbound/target.ts";
import { failureOf, kindOf, PUBLIC_ONLY, rulesOf, WITH_LOOPBACK } from "../../support/outbound/fixtures.ts";
import { type NameServer, startNameServer } from "./name-server.ts";

let nowMs: number;
let asked: string[];
/** What the resolver says next. */
let answer: () => Promise<readonly string[]>;
beforeEach(() => {
  nowMs = 0;
  asked = [];
});

const namesOf = (rules = PUBLIC_ONLY, timers: Timers = systemTimers): Names =>
  openNames({
    rules,
    timers,
    clock: { now: () => 0, monotonic: () => nowMs },
    resolve: (name) => {
      asked.push(name);
      return answer();
    },
  });

const target = (url = "https://hooks.example.com/", rules = PUBLIC_ONLY): Target =>
  readTarget(url, rules) as Target;

const textsOf = async (names: Names, of = target()) => (await names.addressesOf(of)).map(({ text }) => text);
const says = (...texts: string[]) => {
  answer = () => Promise.resolve(texts);
};

describe("a name is refused if one of its addresses is not allowed", () => {
  test.each([
    [["10.0.0.1"]],
    [["93.184.215.14", "10.0.0.1"]],
    [["10.0.0.1", "93.184.215.14"]],
    [["93.184.215.14", "2606:4700::1111", "::1"]],
    [["93.184.215.14", "169.254.169.254"]],
    [["93.184.215.14", "::ffff:169.254.169.254"]],
    [["93.184.215.14", "64:ff9b::10.0.0.1"]],
    [["93.184.215.14", "fe80::1%eth0"]],
    [["93.184.215.14", "0x7f.1"]],
    [["93.184.215.14", ""]],
    [["0.0.0.0"]],
  ])("%j", async (texts) => {
    says(...texts);
    const failure = await failureOf(namesOf().addressesOf(target()));
    expect(failure.kind).toBe("refused_address");
    for (const text of texts) if (text !== "") expect(failure.message).not.toContain(text);
  });

  test("also if it had public ones before", async () => {
    const names = namesOf();
    says("93.184.215.14");
    expect(await textsOf(names)).toEqual(["93.184.215.14"]);
    nowMs = 30_000;
    says("169.254.169.254");
    expect(await kindOf(names.addressesOf(target()))).toBe("refused_address");
  });

  test("also if the gateway has begun to listen on the port", async () => {
    let ports: number[] = [];
    const names = namesOf(rulesOf(["127.0.0.0/8"], { ownPorts: () => ports }));
    says("127.0.0.1");
    expect(await textsOf(names)).toEqual(["127.0.0.1"]);
    ports = [443];
    expect(await kindOf(names.addressesOf(target()))).toBe("refused_address");
  });
});

test("a name is looked up again after 30 s, and once for all calls that wait for it", async () => {
  const names = namesOf();
  says("93.184.215.14");
  await Promise.all([textsOf(names), textsOf(names)]);
  nowMs = 29_999;
  await textsOf(names);
  expect(asked).toEqual(["hooks.example.com"]);
  nowMs = 30_000;
  says("1.1.1.1");
  expect(await textsOf(names)).toEqual(["1.1.1.1"]);
  expect(asked).toHaveLength(2);
});

test("addresses and localhost are not looked up", async () => {
  const names = namesOf(WITH_LOOPBACK);
  expect(await textsOf(names, target("https://8.8.8.8/"))).toEqual(["8.8.8.8"]);
  const local = target("http://localhost/", WITH_LOOPBACK);
  expect(await textsOf(names, local)).toEqual(["127.0.0.1", "::1"]);
  expect(asked).toEqual([]);
});

test("the address in use stays first, and one that could not be connected to is put last", async () => {
  const names = namesOf();
  says("1.1.1.1", "1.0.0.1");
  const [first] = await names.addressesOf(target());
  nowMs = 30_000;
  says("1.0.0.1", "1.1.1.1");
  expect(await textsOf(names)).toEqual(["1.1.1.1", "1.0.0.1"]);
  const [current = first] = await names.addressesOf(target());
  if (current !== undefined) names.demote("hooks.example.com", current);
  expect(await textsOf(names)).toEqual(["1.0.0.1", "1.1.1.1"]);
});

describe("a look-up that fails is of class dns, and is not kept", () => {
  test.each([
    [
      "there is no such name",
      () => Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" })),
      "ENOTFOUND",
    ],
    ["there is no address", () => Promise.resolve([]), "ENODATA"],
    ["there are 65 addresses", () => Promise.resolve(new Array<string>(65).fill("1.1.1.1")), "too many"],
  ])("%s", async (_, failing, message) => {
    const names = namesOf();
    answer = failing;
    const failure = await failureOf(names.addressesOf(target()));
    expect([failure.kind, failure.message]).toEqual(["dns", expect.stringContaining(message)]);
    says("1.1.1.1");
    expect(await textsOf(names)).toEqual(["1.1.1.1"]);
  });

  test("the resolver does not answer", async () => {
    const due: (() => void)[] = [];
    const after = (delayMs: number, act: () => void) => {
      expect(delayMs).toBe(5_000);
      due.push(act);
      return () => {};
    };
    const names = namesOf(PUBLIC_ONLY, { after });
    answer = () => new Promise(() => {});
    const failed = kindOf(names.addressesOf(target()));
    for (const act of due) act();
    expect(await failed).toBe("dns");
    says("1.1.1.1");
    expect(await textsOf(names)).toEqual(["1.1.1.1"]);
  });
});

describe("the system's name servers", () => {
  let server: NameServer;
  afterEach(() => server.close());

  const lookUp = (name: string) => dnsResolve(systemClock, [server.at])(name);

  test("are asked for every A and AAAA", async () => {
    const six = [0x26, 6, 0x47, 0, ...new Array<number>(11).fill(0), 1];
    server = await startNameServer({
      "A a.example": [
        [1, 1, 1, 1],
        [10, 0, 0, 1],
      ],
      "AAAA a.example": [six],
    });
    expect(await lookUp("a.example")).toEqual(["1.1.1.1", "10.0.0.1", "2606:4700::1"]);
    expect([...server.asked].sort()).toEqual(["A a.example", "AAAA a.example"]);
  });

  test("may know one family only, or fail for the other", async () => {
    const loopback = [...new Array<number>(15).fill(0), 1];
    server = await startNameServer({
      "A four.example": [[1, 1, 1, 1]],
      "AAAA six.example": [loopback],
      "A half.example": [[1, 1, 1, 1]],
      "AAAA half.example": "fails",
    });
    expect(await lookUp("four.example")).toEqual(["1.1.1.1"]);
    expect(await lookUp("six.example")).toEqual(["::1"]);
    expect(await lookUp("half.example")).toEqual(["1.1.1.1"]);
  });

  test("may know nothing of the name", async () => {
    server = await startNameServer({ "A a.example": "fails", "AAAA a.example": "fails" });
    await expect(lookUp("none.example")).rejects.toMatchObject({ code: "ENOTFOUND" });
    await expect(lookUp("a.example")).rejects.toMatchObject({ code: "ESERVFAIL" });
  });
});
