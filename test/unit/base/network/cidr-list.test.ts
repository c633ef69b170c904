/** Lists of addresses and CIDRs: canonical form, errors with a suggestion, and which addresses they let in. */
import { BlockList } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cidrAllows, cidrListField } from "../../../../src/base/network/cidr-list.ts";
import { faults, reads } from "../../account/field-faults.ts";

describe("an entry", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7/32", "203.0.113.7"],
    [" 203.0.113.0/24 ", "203.0.113.0/24"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:db8::1/128", "2001:db8::1"],
    ["2001:0db8::/32", "2001:db8::/32"],
    ["::/0", "::/0"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
  ])("is read in its canonical form: %s", (given, canonical) => {
    expect(reads(cidrListField, [given])).toEqual([canonical]);
    expect(reads(cidrListField, [canonical])).toEqual([canonical]);
  });

  test("stands once, however it is written", () => {
    expect(reads(cidrListField, ["10.0.0.1", "10.0.0.1/32", "::ffff:10.0.0.1", "10.0.0.2"])).toEqual([
      "10.0.0.1",
      "10.0.0.2",
    ]);
  });

  test.each([
    ["10.0.0.5/8", "10.0.0.0/8", "10.0.0.5"],
    ["203.0.113.7/31", "203.0.113.6/31", "203.0.113.7"],
    ["2001:db8::1/64", "2001:db8::/64", "2001:db8::1"],
    ["::ffff:10.0.0.5/104", "10.0.0.0/8", "10.0.0.5"],
    ["1.2.3.4/0", "0.0.0.0/0", "1.2.3.4"],
  ])("with host bits is refused with both things it may mean: %s", (given, network, address) => {
    expect(faults(cidrListField, ["10.0.0.0/8", given])).toEqual([
      `/1: this range begins at another address: write ${network}, or ${address} for the one address`,
    ]);
  });

  test.each([
    "",
    "localhost",
    "10.0.0",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/08",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "010.0.0.1",
    "0x7f.0.0.1",
    "2130706433",
    "1.2.3.256",
    "fe80::1%eth0",
    "2001:db8::/129",
    "::1::",
    "::ffff:010.0.0.1",
    "10.0.0.0/ 8",
    "10.0.0.0/255.0.0.0",
    "[::1]",
    "10.0.0.1:80",
  ])("that is none is refused: %s", (given) => {
    expect(faults(cidrListField, [given])).toEqual([
      "/0: an address or a CIDR, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32",
    ]);
  });

  test("is bounded in length, and the list in number", () => {
    expect(faults(cidrListField, ["1".repeat(65)])).toEqual([
      "/0: an address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24",
    ]);
    const many = Array.from({ length: 65 }, (_, at) => `10.0.0.${at}`);
    expect(faults(cidrListField, many)).toEqual([": at most 64 addresses and CIDRs"]);
    expect(reads(cidrListField, many.slice(1))).toHaveLength(64);
  });
});

describe("a list", () => {
  test("that is empty lets everyone in, even who has no address", () => {
    expect(cidrAllows([], "203.0.113.7")).toBe(true);
    expect(cidrAllows([], "")).toBe(true);
  });

  test.each([
    ["203.0.113.0/24", "203.0.113.255", true],
    ["203.0.113.0/24", "203.0.114.0", false],
    ["203.0.113.0/24", "::ffff:203.0.113.9", true],
    ["203.0.113.0/24", "0:0:0:0:0:ffff:cb00:7109", true],
    ["203.0.113.7", "203.0.113.7", true],
    ["203.0.113.7", "203.0.113.8", false],
    ["2001:db8::/32", "2001:db8:ffff::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["::/0", "2001:db8::1", true],
    ["::/0", "203.0.113.7", false],
    ["::/0", "::ffff:203.0.113.7", false],
    ["0.0.0.0/0", "", false],
    ["0.0.0.0/0", "unknown", false],
    ["0.0.0.0/0", "203.0.113.7/32", false],
    ["0.0.0.0/0", "203.0.113.7, 198.51.100.1", false],
    ["not a range", "203.0.113.7", false],
  ])("of %s and the address %s: %s", (entry, address, isLetIn) => {
    expect(cidrAllows([entry], address)).toBe(isLetIn);
  });

  test("lets in what any of its entries contains, and nothing else", () => {
    const list = reads(cidrListField, ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1"]);
    const asked = ["10.9.9.9", "192.0.2.1", "2001:db8::5", "192.0.2.2", "11.0.0.0", "2001:db7::"];
    expect(asked.map((address) => cidrAllows(list, address))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  const octets = (count: number) => fc.array(fc.nat(255), { minLength: count, maxLength: count });
  const v4Text = (bytes: readonly number[]) => bytes.join(".");
  const v6Text = (bytes: readonly number[]) =>
    Array.from({ length: 8 }, (_, at) =>
      (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
    ).join(":");
  const bitsOf = (bytes: readonly number[]) =>
    bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const bytesOf = (bits: string) => (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));

  test.each([
    { family: "ipv4", width: 32, text: v4Text },
    { family: "ipv6", width: 128, text: v6Text },
  ] as const)(
    "agrees with a comparison of bits, and with Node's own, for $family",
    ({ family, width, text }) => {
      fc.assert(
        fc.property(
          octets(width / 8),
          octets(width / 8),
          fc.nat(width),
          fc.nat(width),
          (network, other, prefix, shared) => {
            const first = bitsOf(network).slice(0, prefix).padEnd(width, "0");
            // Half of all addresses would share one bit; these share up to all.
            const asked = bytesOf(first.slice(0, shared) + bitsOf(other).slice(shared));
            const [written] = reads(cidrListField, [`${text(bytesOf(first))}/${prefix}`]);
            const isWithin = bitsOf(asked).slice(0, prefix) === first.slice(0, prefix);
            // A mapped address counts as IPv4, which only the table above tests.
            fc.pre(family === "ipv4" || !/^::ffff:|\./.test(`${written}`));
            expect(cidrAllows([written as string], text(asked))).toBe(isWithin);
            const block = new BlockList();
            block.addSubnet(text(bytesOf(first)), prefix, family);
            expect(block.check(text(asked), family)).toBe(isWithin);
          },
        ),
        { numRuns: 1_000 },
      );
    },
  );
});
