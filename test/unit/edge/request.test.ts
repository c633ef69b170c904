/** What is kept of a client's address: its network. */
import { expect, test } from "vitest";
import { ipPrefix } from "../../../src/edge/request.ts";

const address = (...bytes: number[]): ArrayBuffer => Uint8Array.from(bytes).buffer;

test.each([
  ["an IPv4 address", address(203, 0, 113, 77), "203.0.113.0/24"],
  ["an IPv6 address", address(0x20, 1, 0xd, 0xb8, 0, 0xa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), "2001:db8:a::/48"],
  ["IPv6 loopback", address(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), "0:0:0::/48"],
  [
    "an IPv4 address on an IPv6 socket",
    address(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 9),
    "192.0.2.0/24",
  ],
  ["no address", address(), ""],
])("%s", (_, bytes, prefix) => {
  expect(ipPrefix(bytes)).toBe(prefix);
});
