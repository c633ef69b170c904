/** Whose address a request has, behind proxies that are trusted and others. */
import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { clientAddress } from "../../../src/edge/client-address.ts";

const bytes = (text: string): ArrayBuffer => Uint8Array.from(ipaddr.parse(text).toByteArray()).buffer;
const seen = (trusted: readonly string[], peer: string, forwardedFor: string): string =>
  ipaddr.fromByteArray([...new Uint8Array(clientAddress(trusted)(bytes(peer), forwardedFor))]).toString();

const PROXIES = ["10.0.0.0/8", "2001:db8::/32"];

test.each([
  ["nobody is trusted", [], "203.0.113.9", "198.51.100.1", "203.0.113.9"],
  [
    "the peer is no proxy: what it says is not believed",
    PROXIES,
    "203.0.113.9",
    "198.51.100.1",
    "203.0.113.9",
  ],
  ["one proxy", PROXIES, "10.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["two proxies", PROXIES, "10.0.0.1", "198.51.100.1, 10.9.9.9", "198.51.100.1"],
  [
    "what the client wrote before is not believed",
    PROXIES,
    "10.0.0.1",
    "1.2.3.4, 198.51.100.1",
    "198.51.100.1",
  ],
  ["a proxy that says nothing", PROXIES, "10.0.0.1", "", "10.0.0.1"],
  ["only proxies", PROXIES, "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["a name is no address", PROXIES, "10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"],
  ["IPv6 through IPv4", PROXIES, "10.0.0.1", "2001:db9::1", "2001:db9::1"],
  ["a mapped peer is its IPv4 address", PROXIES, "::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
])("%s", (_, trusted, peer, forwardedFor, client) => {
  expect(seen(trusted, peer, forwardedFor)).toBe(client);
});

test("a header of many thousand hops is read from its end", () => {
  const hops = `${"10.0.0.7,".repeat(100_000)}198.51.100.1`;
  expect(seen(PROXIES, "10.0.0.1", hops)).toBe("198.51.100.1");
});
