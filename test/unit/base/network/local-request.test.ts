/** Which requests come from this machine directly. */
import { describe, expect, test } from "vitest";
import { isFromThisMachine } from "../../../../src/base/network/local-request.ts";
import { FORWARDING } from "../../../support/forwarding-headers.ts";

const CURL = ["host", "user-agent", "accept"];
const CHROMIUM = [
  "host",
  "connection",
  "cache-control",
  "sec-ch-ua",
  "sec-ch-ua-mobile",
  "sec-ch-ua-platform",
  "dnt",
  "upgrade-insecure-requests",
  "user-agent",
  "accept",
  "sec-fetch-site",
  "sec-fetch-mode",
  "sec-gpc",
  "sec-fetch-user",
  "sec-fetch-dest",
  "referer",
  "accept-encoding",
  "accept-language",
  "cookie",
  "if-none-match",
  "priority",
  "origin",
  "content-type",
  "content-length",
  "pragma",
  "sec-purpose",
];
const PROMETHEUS = ["host", "user-agent", "accept", "accept-encoding", "x-prometheus-scrape-timeout-seconds"];

const asked = (others: Partial<Parameters<typeof isFromThisMachine>[0]>) =>
  isFromThisMachine({ peer: "127.0.0.1", host: "127.0.0.1:8787", names: CURL, ...others });

describe("S14: a request comes from this machine directly", () => {
  test.each([
    ["curl", CURL],
    ["a browser", CHROMIUM],
    ["Prometheus", [...PROMETHEUS, "authorization"]],
  ])("from %s", (_, names) => {
    expect(asked({ names })).toBe(true);
  });

  test.each([
    ["127.0.0.1", "localhost:8787"],
    ["::1", "[::1]:8787"],
    ["::ffff:127.0.0.1", "LOCALHOST"],
    ["127.0.0.2", "127.0.0.2:8787"],
  ])("of %s to %s", (peer, host) => {
    expect(asked({ peer, host })).toBe(true);
  });
});

describe("S14: a request does not", () => {
  test.each(FORWARDING)("with %s", (name) => {
    expect(asked({ names: [...CHROMIUM, name] })).toBe(false);
  });

  test.each([
    "203.0.113.7",
    "10.0.0.1",
    "0.0.0.0",
    "::",
    "fe80::1",
    "::ffff:10.0.0.1",
    "169.254.1.1",
    "",
    "localhost",
    "127.0.0.1, 203.0.113.7",
  ])("of the peer %j", (peer) => {
    expect(asked({ peer })).toBe(false);
  });

  test.each([
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "gateway.example.com",
    "10.0.0.1",
    "localhost:8787@evil.example",
    "[::2]",
    "127.0.0.1:",
    "a.localhost",
    "localhost localhost",
  ])("to the host %j", (host) => {
    expect(asked({ host })).toBe(false);
  });
});
