/** `cors` of `weir.yaml`: exact origins as browsers write them, and what is said of anything else. */
import { expect, test } from "vitest";
import { corsField } from "../../../src/edge/cors-settings.ts";

const originsOf = (cors: unknown): readonly string[] | string => {
  const read = corsField.safeParse(cors);
  return read.success ? read.data.origins : (read.error.issues[0]?.message ?? "");
};

test("every origin unless told, none, or a list of exact ones", () => {
  expect(originsOf(undefined)).toEqual(["*"]);
  expect(originsOf({})).toEqual(["*"]);
  for (const origins of [
    [],
    ["*"],
    ["https://app.example.com", "http://localhost:3000", "http://[::1]:8080"],
    ["https://xn--bcher-kva.example", "https://a.example.:8443", "http://127.0.0.1:8080"],
    ["chrome-extension://abcdefghijklmnopabcdefghijklmnop", "tauri://localhost", "app://obsidian.md"],
    ["capacitor://localhost:1420", "ms-app.x+y://A_b-c", "app://[::1]:80", "capacitor-electron://-"],
  ])
    expect(originsOf({ origins })).toEqual(origins);
});

test.each([
  ["https://app.example.com/", "is no origin as browsers send it: write https://app.example.com"],
  ["https://App.example.com", "is no origin as browsers send it: write https://app.example.com"],
  ["https://app.example.com:443", "is no origin as browsers send it: write https://app.example.com"],
  ["https://user:secret@app.example.com", "is no origin as browsers send it: write https://app.example.com"],
  ["https://*.example.com", 'patterns are not offered, only exact origins, or "*" for all'],
  ["app.example.com", "is no origin: write a scheme and a host, as https://app.example.com"],
  ["https://", "is no origin: write a scheme and a host"],
  ["tauri://localhost/path", "is no origin: write a scheme and a host"],
  ["app://a\r\nx: y", "is no origin: write a scheme and a host"],
  ["", "is no origin: write a scheme and a host"],
  // What no parser of addresses takes is no origin either.
  ["https://a.example:99999", "is no origin: write a scheme and a host"],
  ["https://[::1", "is no origin: write a scheme and a host"],
  ["https://a\u0001.example", "is no origin: write a scheme and a host"],
  ["https://a%zz.example", "is no origin: write a scheme and a host"],
  ["app://a\u0001b", "is no origin: write a scheme and a host"],
  ["app://a\u007fb", "is no origin: write a scheme and a host"],
  ["app://a:99999", "is no origin: write a scheme and a host"],
  ["app://a:080", "is no origin: write a scheme and a host"],
  ["app://a:", "is no origin: write a scheme and a host"],
  ["app://a:b@c", "is no origin: write a scheme and a host"],
  ["app://bücher", "is no origin: write a scheme and a host"],
  ["app://\u202eevil", "is no origin: write a scheme and a host"],
  ["app://a;b", "is no origin: write a scheme and a host"],
  ["app://..", "is no origin: write a scheme and a host"],
  ["https://a.example, https://b.example", "is no origin: write a scheme and a host"],
  [" https://a.example", "is no origin as browsers send it: write https://a.example"],
  ["https://a.example\n", "is no origin as browsers send it: write https://a.example"],
  ["https://bücher.example", "is no origin as browsers send it: write https://xn--bcher-kva.example"],
  ["https://a.example:0443", "is no origin as browsers send it: write https://a.example"],
  ["http://0x7f.1", "is no origin as browsers send it: write http://127.0.0.1"],
  ["https://a!b.example", "is no origin: write a scheme and a host"],
  ["HTTPS://a.example", "is no origin as browsers send it: write https://a.example"],
  ["file://", "is no origin: write a scheme and a host"],
  ["file://a", "no page has an origin of the scheme file"],
  ["ws://a.example", "no page has an origin of the scheme ws"],
  ["wss://a.example", "no page has an origin of the scheme wss"],
  ["ftp://a.example", "no page has an origin of the scheme ftp"],
  ["data:text/html,x", "is no origin: write a scheme and a host"],
  ["blob:https://a.example/1", "is no origin: write a scheme and a host"],
  ["javascript:alert(1)", "is no origin: write a scheme and a host"],
  ["//a.example", "is no origin: write a scheme and a host"],
  ["null", 'any sandboxed page has the origin "null"'],
  [`https://${"a".repeat(300)}.com`, "300"],
])("%j is refused", (origin, message) => {
  expect(originsOf({ origins: [origin] })).toContain(message);
});

test.each(["https://app.example.com", "*", true, null, { all: true }])(
  "%j is no list, and one is shown",
  (origins) => {
    expect(originsOf({ origins })).toBe(
      'must be a list, such as ["https://app.example.com"]; ["*"] is every origin, [] none',
    );
  },
);

test("all and one beside it is refused, and so are too many and what is no key", () => {
  expect(originsOf({ origins: ["*", "https://app.example.com"] })).toContain(
    "no other origin stands beside it",
  );
  expect(originsOf({ origins: Array(257).fill("https://app.example.com") })).toContain("256");
  expect(originsOf({ origin: "*" })).toContain("origin");
});
