/** Which addresses are public: the edges of every special range, inside and outside, and addresses that carry others. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressClass, isPublic, readAddress } from "../../../src/outbound/address.ts";
import { amount } from "../../support/effort.ts";

/** Name, first and last address of a range, and the addresses before and behind it (with whether they are public). */
type Range = readonly [
  name: string,
  first: string,
  last: string,
  before?: string | undefined,
  behind?: string | undefined,
];

const RANGES_4: readonly Range[] = [
  ["this network", "0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
  ["private 10/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["shared by carriers", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["private 172.16/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["TEST-NET-1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["AS112 v4", "192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"],
  ["AMT", "192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"],
  ["6to4 relays", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["private 192.168/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["direct delegation AS112", "192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"],
  ["benchmarks", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["TEST-NET-2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["TEST-NET-3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["multicast, reserved, broadcast", "224.0.0.0", "255.255.255.255", "223.255.255.255"],
  ["multicast", "224.0.0.0", "239.255.255.255"],
  ["reserved", "240.0.0.0", "255.255.255.254"],
];

const F = (count: number) => new Array<string>(count).fill("ffff").join(":");

const RANGES_6: readonly Range[] = [
  ["unspecified, loopback, IPv4-compatible", "::", `::${F(2)}`],
  ["unallocated below 2000::", "1::", `1fff:${F(7)}`, undefined, "2000::"],
  ["translated (RFC 6145)", "::ffff:0:0:0", `::ffff:0:${F(2)}`],
  ["discard-only", "100::", `100::${F(4)}`],
  ["NAT64 of one network", "64:ff9b:1::", `64:ff9b:1:${F(5)}`],
  ["protocol assignments with Teredo, ORCHID", "2001::", `2001:1ff:${F(6)}`, `2000:${F(7)}`, "2001:200::"],
  ["documentation", "2001:db8::", `2001:db8:${F(6)}`, `2001:db7:${F(6)}`, "2001:db9::"],
  ["6to4", "2002::", `2002:${F(7)}`, `2001:${F(7)}`, "2003::"],
  ["AS112 v6", "2620:4f:8000::", `2620:4f:8000:${F(5)}`, `2620:4f:7fff:${F(5)}`, "2620:4f:8001::"],
  ["documentation, the second", "3fff::", `3fff:fff:${F(6)}`, `3ffe:${F(7)}`, "3fff:1000::"],
  ["unallocated, segment routing, ULA, multicast", "4000::", F(8), `3fff:${F(7)}`],
  ["segment routing", "5f00::", `5f00:${F(7)}`],
  ["unique local", "fc00::", `fdff:${F(7)}`],
  ["link-local", "fe80::", `febf:${F(7)}`],
  ["site-local", "fec0::", `feff:${F(7)}`],
  ["multicast", "ff00::", F(8)],
];

describe("every special range is closed from its first address to its last, and its neighbours are open", () => {
  test.each([...RANGES_4, ...RANGES_6])("%s: %s to %s", (...range) => {
    const [_, first, last, ...neighbours] = range;
    expect([first, last].filter((text) => isPublic(text as string))).toEqual([]);
    expect(neighbours.filter((text) => text !== undefined && !isPublic(text))).toEqual([]);
  });

  test.each([
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "2606:4700:4700::1111",
    "2a00:1450:4001:82a::200e",
    "240e::1",
  ])("%s is public", (text) => {
    expect(addressClass(text)).toBe("public");
  });
});

test.each([
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["::1", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["0.0.0.0", "unspecified"],
  ["::", "unspecified"],
  ["10.1.2.3", "special"],
  ["169.254.169.254", "metadata"],
  ["169.254.170.2", "metadata"],
  ["100.100.100.200", "metadata"],
  ["168.63.129.16", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["FD00:0EC2:0:0:0:0:0:0254", "metadata"],
  ["fd20:ce::254", "metadata"],
  ["::ffff:169.254.169.254", "metadata"],
  ["64:ff9b::169.254.169.254", "metadata"],
])("%s is %s", (text, expected) => {
  expect(addressClass(text)).toBe(expected);
});

describe("an address that carries an IPv4 address", () => {
  test.each([
    // Mapped: the system dials the IPv4 address.
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["0:0:0:0:0:ffff:0a00:0001", "special"],
    ["::ffff:8.8.8.8", "public"],
    // NAT64 with the well-known prefix.
    ["64:ff9b::127.0.0.1", "special"],
    ["64:ff9b::10.0.0.1", "special"],
    ["64:ff9b::0.0.0.0", "special"],
    ["64:ff9b::8.8.8.8", "public"],
    ["64:ff9b::1:8.8.8.8", "special"],
    ["64:ff9b:1::8.8.8.8", "special"],
    ["64:ff9b:1:a00:0:100::", "special"],
    // Compatible, translated, 6to4, Teredo, ISATAP: closed whatever they carry.
    ["::127.0.0.1", "special"],
    ["::8.8.8.8", "special"],
    ["::ffff:0:127.0.0.1", "special"],
    ["::ffff:0:8.8.8.8", "special"],
    ["2002:7f00:1::", "special"],
    ["2002:808:808::1", "special"],
    ["2001:0:808:808::80ff:fffe", "special"],
    ["2606:4700::5efe:10.0.0.1", "special"],
    ["2606:4700::200:5efe:10.0.0.1", "special"],
    ["2606:4700::200:5eff:10.0.0.1", "public"],
  ])("%s is %s", (text, expected) => {
    expect(addressClass(text)).toBe(expected);
  });
});

test.each([
  ["", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x8.8.8.8", "010.8.8.8", "134744072", " 8.8.8.8", "8.8.8.8 "],
  [":::", "1::2::3", "2606:4700", "[2606:4700::1]", "fe80::1%eth0", "2606:4700::1%1", "::ffff:256.1.1.1"],
  ["localhost", "example.com", "２.２.２.２", "8.8.8.8/32", "2606:4700::g", `${"1".repeat(100_000)}.1.1.1`],
])("text in another form is no address, and not public", (...texts) => {
  expect(texts.filter((text) => readAddress(text) !== undefined || isPublic(text))).toEqual([]);
});

test.each([
  ["2606:4700:0:0:0:0:0:1111", "2606:4700::1111"],
  ["2606:4700::A", "2606:4700::a"],
  ["::ffff:808:808", "8.8.8.8"],
  ["::8.8.8.8", "::808:808"],
  ["64:ff9b::8.8.8.8", "64:ff9b::808:808"],
])("%s is %s in its canonical form", (text, canonical) => {
  expect(readAddress(text)?.text).toBe(canonical);
});

describe("no address is public if one that it carries is not", () => {
  const runs = { numRuns: amount(100_000, 2_000) };
  const octets = fc.tuple(...[0, 1, 2, 3].map(() => fc.nat(255)));
  /** Half of them in a private range. */
  const closed = fc
    .tuple(octets, fc.constantFrom([10], [127], [0], [192, 168], [169, 254], [100, 64], [172, 16], [224]))
    .map(([four, start]) => [...start, ...four.slice(start.length)]);
  const hex = (a = 0, b = 0) => ((a << 8) | b).toString(16);
  const flip = (four: readonly number[]) => four.map((octet) => octet ^ 255);
  const CARRIERS: Readonly<Record<string, (four: readonly number[], rest: string) => string>> = {
    itself: (four) => four.join("."),
    mapped: (four) => `::ffff:${four.join(".")}`,
    compatible: (four) => `::${four.join(".")}`,
    translated: (four) => `::ffff:0:${four.join(".")}`,
    NAT64: (four) => `64:ff9b::${four.join(".")}`,
    "NAT64 /48": ([a, b, c, d]) => `64:ff9b:1:${hex(a, b)}:${hex(0, c)}:${hex(d)}::`,
    "NAT64 /96 within /48": (four, rest) => `64:ff9b:1:${rest}:0:0:${four.join(".")}`,
    "6to4": ([a, b, c, d], rest) => `2002:${hex(a, b)}:${hex(c, d)}:${rest}::1`,
    "Teredo's server": ([a, b, c, d], rest) => `2001:0:${hex(a, b)}:${hex(c, d)}:0:${rest}:1:1`,
    "Teredo's client": (four, rest) => {
      const [a, b, c, d] = flip(four);
      return `2001:0:4136:e378:8000:${rest}:${hex(a, b)}:${hex(c, d)}`;
    },
    ISATAP: (four, rest) => `2606:4700:${rest}:1:0:5efe:${four.join(".")}`,
  };
  const group = fc.nat(0xffff).map((value) => value.toString(16));

  test.each(Object.entries(CARRIERS))("%s", (_, carry) => {
    fc.assert(
      fc.property(closed, group, (four, rest) => {
        const text = carry(four, rest);
        expect(readAddress(text)).toBeDefined();
        expect(isPublic(text)).toBe(false);
      }),
      runs,
    );
  });

  test("and whatever is public is in 2000::/3, or stands for a public IPv4 address", () => {
    const any = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
    const start = fc.constantFrom<number[]>([], [0], [0x64, 0xff9b], [0x2001], [0x2002], [0xfd00], [0xfe80]);
    fc.assert(
      fc.property(any, start, (parts, begin) => {
        const all = [...begin, ...parts.slice(begin.length)];
        const text = all.map((part) => part.toString(16)).join(":");
        if (!isPublic(text)) return;
        const [a = 0, b = 0, , , , , g = 0, h = 0] = all;
        if (a >= 0x2000 && a <= 0x3fff) expect([a, b < 0x200]).not.toEqual([0x2001, true]);
        else expect(isPublic([g >> 8, g & 255, h >> 8, h & 255].join("."))).toBe(true);
      }),
      runs,
    );
  });
});
