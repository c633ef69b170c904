/** What an installation allows beside public addresses: the text of ranges, and what they open. */
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { type Address, readAddress } from "../../../src/outbound/address.ts";
import { isAllowed, ownAddresses, readAllow } from "../../../src/outbound/rules.ts";
import { rulesOf } from "../../support/outbound/fixtures.ts";

const address = (text: string): Address => readAddress(text) as Address;

describe("ranges that cannot be what is meant are refused with what to write", () => {
  test.each([
    ["10.0.0.0", "for this one address write 10.0.0.0/32"],
    ["fd00::1", "for this one address write fd00::1/128"],
    ["10.0.0.1/8", "does not begin at 10.0.0.1; write 10.0.0.0/8"],
    ["fd00::1/64", "does not begin at fd00::1; write fd00::/64"],
    ["10.0.0.0/33", "not a number from 0 to 32"],
    ["fd00::/129", "not a number from 0 to 128"],
    ["10.0.0.0/", "not a number from 0 to 32"],
    ["10.0.0.0/-1", "not a number from 0 to 32"],
    ["10.0.0.0/8.0", "not a number from 0 to 32"],
    ["10.0.0.0/1e1", "not a number from 0 to 32"],
    ["10.0.0.0/255.0.0.0", "not a number from 0 to 32"],
    ["10.0.0.0/8/8", "is no range of addresses"],
    ["10/8", "is no range of addresses"],
    ["010.0.0.0/8", "is no range of addresses"],
    ["0x0a.0.0.0/8", "is no range of addresses"],
    ["fe80::%eth0/10", "is no range of addresses"],
    ["localhost/8", "is no range of addresses"],
    ["", "is no range of addresses"],
    ["*", "is no range of addresses"],
    ["::ffff:127.0.0.0/104", "write the IPv4 range itself"],
    ["1".repeat(100_000), "is no range of addresses"],
  ])("%s", (text, message) => {
    const read = () => readAllow(["127.0.0.0/8", text]);
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ kind: "invalid_value", param: "/1" }));
    expect(read).toThrow(WeirError);
  });

  test("more than 256 ranges", () => {
    expect(() => readAllow(new Array<string>(257).fill("10.0.0.0/8"))).toThrow("At most 256");
  });
});

test.each([
  [["127.0.0.0/8"], "127.0.0.1", true],
  [["127.0.0.0/8"], "::ffff:127.0.0.1", true],
  [["127.0.0.0/8"], "::1", false],
  [["127.0.0.0/8"], "10.0.0.1", false],
  [["127.0.0.0/8"], "64:ff9b::127.0.0.1", false],
  [["127.0.0.1/32"], "127.0.0.1", true],
  [["127.0.0.1/32"], "127.0.0.2", false],
  [["10.0.0.0/8", "fd00::/8"], "fd12::1", true],
  [["10.0.0.0/8", "fd00::/8"], "fc12::1", false],
  [["0.0.0.0/0"], "192.168.0.1", true],
  [["0.0.0.0/0"], "fd00::1", false],
  [["::/0"], "127.0.0.1", false],
  [["::/0"], "::ffff:127.0.0.1", false],
  [[], "8.8.8.8", true],
  [["127.0.0.0/8"], "2606:4700::1", true],
  // Services that give out credentials are opened by name only.
  [["0.0.0.0/0"], "169.254.169.254", false],
  [["169.254.0.0/16"], "169.254.169.254", false],
  [["169.254.169.254/32"], "169.254.169.254", true],
  [["100.64.0.0/10"], "100.100.100.200", false],
  [["100.64.0.0/10"], "100.100.100.201", true],
  [["fd00::/8"], "fd00:ec2::254", false],
  [["fd00:ec2::254/128"], "fd00:ec2::254", true],
  [["64:ff9b::/96"], "64:ff9b::169.254.169.254", false],
])("%j allows %s: %s", (allow, text, expected) => {
  expect(isAllowed(address(text), 443, rulesOf(allow))).toBe(expected);
});

describe("the gateway's own ports", () => {
  const rules = rulesOf(["0.0.0.0/0", "::/0"], {
    ownPorts: () => [8787],
    ownAddresses: () => new Set(["10.1.1.1", "93.184.215.14", "2606:4700::1"]),
  });

  test.each([
    "127.0.0.1",
    "127.1.2.3",
    "::1",
    "0.0.0.0",
    "::",
    "::ffff:127.0.0.1",
    "10.1.1.1",
    "93.184.215.14",
    "::ffff:10.1.1.1",
    "2606:4700:0:0::1",
  ])("are refused at %s of this machine, though it is allowed", (text) => {
    expect(isAllowed(address(text), 8787, rules)).toBe(false);
    expect(isAllowed(address(text), 8788, rules)).toBe(true);
  });

  test("are like any other on another machine", () => {
    expect(isAllowed(address("10.1.1.2"), 8787, rules)).toBe(true);
    expect(isAllowed(address("93.184.215.15"), 8787, rules)).toBe(true);
  });
});

test("where another process of the installation listens is refused, though it is allowed", () => {
  const rules = rulesOf(["0.0.0.0/0"], {
    isOfInstallation: ({ text }, port) => text === "10.1.1.2" && port === 8787,
  });
  expect(isAllowed(address("10.1.1.2"), 8787, rules)).toBe(false);
  expect(isAllowed(address("::ffff:10.1.1.2"), 8787, rules)).toBe(false);
  expect(isAllowed(address("10.1.1.2"), 8788, rules)).toBe(true);
  expect(isAllowed(address("10.1.1.3"), 8787, rules)).toBe(true);
});

test("this machine's addresses are those of its interfaces, looked up again after five seconds", () => {
  let nowMs = 0;
  const own = ownAddresses({ now: () => 0, monotonic: () => nowMs });
  const first = own();
  const listed = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  for (const { address: text } of listed) expect(first).toContain(address(text).text);
  nowMs = 4_999;
  expect(own()).toBe(first);
  nowMs = 5_000;
  expect(own()).not.toBe(first);
  expect(own()).toEqual(first);
});
