/** Which proxy the environment has for an origin, and which origins it has none for. */
import { describe, expect, test } from "vitest";
import { readProxyAddress } from "../../../../../src/base/network/proxy-address.ts";
import { meaningless, readNoProxy } from "../../../../../src/inference/upstream/proxy/no-proxy.ts";
import { proxyFor, proxySettingsOf } from "../../../../../src/inference/upstream/proxy/settings.ts";

const read = (set: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(set).map(([name, text]) => [name, /^no/i.test(name) ? text : readProxyAddress(text)]),
  );

describe("NO_PROXY", () => {
  test.each<readonly [list: string, places: readonly number[]]>([
    ["", []],
    ["*, a.example .b.example *.c.example d.example:443", []],
    ["10.0.0.1,10.0.0.0/8,10.0.0.1:80,[fd00::1]:8000,fd00::/8,[fd00::]/8", []],
    ["https://me:s3cret@a.example, b.example", [1]],
    ['10.*, a.example/path "b.example" c*.example', [1, 2, 3, 4]],
    ["a.example, 10.0.0.0/99 10.0.0.0/8:80 a.example:x", [2, 3, 4]],
  ])("says which entries mean nothing: %s", (list, places) => {
    expect(meaningless(list)).toEqual(places);
  });

  test.each<readonly [list: string, direct: readonly string[], proxied: readonly string[]]>([
    ["", [], ["https://a.example", "http://10.0.0.1"]],
    [" , ,", [], ["https://a.example"]],
    ["*", ["https://a.example", "http://10.0.0.1", "http://[2001:db8::1]"], []],
    ["*:8443", ["https://a.example:8443"], ["https://a.example"]],
    [
      "a.example",
      ["https://a.example", "https://b.a.example", "http://a.example:81"],
      ["https://ba.example"],
    ],
    [
      ".a.example",
      ["https://b.a.example", "https://c.b.a.example", "https://a.example"],
      ["https://xa.example"],
    ],
    ["*.a.example", ["https://b.a.example"], ["https://a.example.org"]],
    ["A.Example", ["https://a.example"], ["https://example"]],
    ["a.example.", ["https://a.example"], []],
    ["a.example", ["https://a.example."], []],
    ["bücher.example", ["https://xn--bcher-kva.example", "https://a.bücher.example"], []],
    ["example", ["https://a.example", "https://example"], ["https://myexample"]],
    [
      "a.example,b.example c.example\td.example\n",
      ["https://b.example", "https://c.example", "https://d.example"],
      ["https://e.example"],
    ],
    ["a.example:8443", ["https://a.example:8443", "https://b.a.example:8443"], ["https://a.example"]],
    ["a.example:443", ["https://a.example"], ["http://a.example"]],
    ["a.example:80", ["http://a.example"], ["https://a.example"]],
    ["a.example:", [], ["https://a.example"]],
    ["a.example:0x50", [], ["http://a.example"]],
    ["https://a.example", [], ["https://a.example"]],
    ["a.example/path", [], ["https://a.example"]],
    ["a.example/", [], ["https://a.example"]],
    ["a.example:443/path", [], ["https://a.example"]],
    ["a.example?x", [], ["https://a.example"]],
    ["a.example#x", [], ["https://a.example"]],
    ["a.example\\x", [], ["https://a.example"]],
    ["%61.example", [], ["https://a.example"]],
    ["me@a.example", [], ["https://a.example"]],
    ['"a.example"', [], ["https://a.example"]],
    ["a.example;b.example", [], ["https://a.example", "https://b.example"]],
    ["a*.example", [], ["https://ab.example"]],
    ["*a.example", [], ["https://xa.example"]],
    [".", [], ["https://a.example"]],
    ["b.example, *", ["https://a.example"], []],
    ["10.*", [], ["http://10.1.1.1"]],
    ["10.0.0.0/8:80", [], ["http://10.1.1.1"]],
    ["192.168.0.0/255.255.0.0", [], ["http://192.168.1.1"]],
    ["fe80::1%eth0", [], ["http://[fe80::1]"]],
    ["  a.example  ", ["https://a.example"], []],
    ["10.1.2.3", ["http://10.1.2.3", "https://10.1.2.3:9"], ["http://10.1.2.4", "http://110.1.2.3"]],
    ["10.1.2.3:81", ["http://10.1.2.3:81"], ["http://10.1.2.3"]],
    ["10.0.0.0/8", ["http://10.255.0.1"], ["http://11.0.0.1", "http://10.example"]],
    ["10.9.9.9/8", ["http://10.255.0.1"], ["http://11.0.0.1"]],
    ["0.0.0.0/0", ["http://192.0.2.1"], ["http://[2001:db8::1]", "https://a.example"]],
    ["10.0.0.0/33", [], ["http://10.0.0.1"]],
    ["10.0.0.0/8/8", [], ["http://10.0.0.1"]],
    ["2.3", [], ["http://10.1.2.3"]],
    ["2001:db8::1", ["http://[2001:db8:0::1]", "http://[2001:db8::1]:81"], ["http://[2001:db8::2]"]],
    ["[2001:db8::1]", ["http://[2001:DB8::1]"], []],
    ["[2001:db8::1]:81", ["http://[2001:db8::1]:81"], ["http://[2001:db8::1]"]],
    ["2001:db8::/32", ["http://[2001:db8:9::1]"], ["http://[2001:db9::1]", "http://10.0.0.1"]],
    ["[2001:db8::]/32", ["http://[2001:db8:9::1]"], ["http://[2001:db9::1]"]],
    ["::ffff:10.0.0.0/104", ["http://10.2.0.1"], ["http://11.0.0.1"]],
    ["10.0.0.0/8", ["http://[::ffff:10.1.1.1]"], []],
    ["<local>,a.example", ["https://a.example"], ["https://printer"]],
  ])("%j", (list, direct, proxied) => {
    const isDirect = readNoProxy(list);
    for (const url of direct) expect([url, isDirect(new URL(url))]).toEqual([url, true]);
    for (const url of proxied) expect([url, isDirect(new URL(url))]).toEqual([url, false]);
  });

  test.each([
    "http://localhost:8000",
    "http://LOCALHOST.",
    "http://vllm.localhost",
    "http://127.0.0.1",
    "http://127.9.9.9:81",
    "http://0x7f.1",
    "http://[::1]:8000",
    "http://[::ffff:127.0.0.1]",
    "http://0.0.0.0:8000",
    "http://[::]:8000",
  ])("%s is this machine, and called directly whatever the list says", (url) => {
    expect(readNoProxy("")(new URL(url))).toBe(true);
  });

  test.each(["http://localhost.example", "http://notlocalhost", "http://128.0.0.1"])(
    "%s is another machine",
    (url) => expect(readNoProxy("")(new URL(url))).toBe(false),
  );
});

describe("the proxy of an origin", () => {
  const HTTP = "http://a.example";
  const HTTPS = "https://a.example";
  test.each<readonly [set: Record<string, string>, http: string | undefined, https: string | undefined]>([
    [{}, undefined, undefined],
    [{ HTTP_PROXY: "h" }, "h", undefined],
    [{ HTTPS_PROXY: "s" }, undefined, "s"],
    [{ http_proxy: "l", HTTP_PROXY: "u" }, "l", undefined],
    [{ https_proxy: "l", HTTPS_PROXY: "u" }, undefined, "l"],
    [{ ALL_PROXY: "a" }, "a", "a"],
    [{ all_proxy: "l", ALL_PROXY: "u" }, "l", "l"],
    [{ ALL_PROXY: "a", HTTPS_PROXY: "s" }, "a", "s"],
    [{ all_proxy: "a", HTTPS_PROXY: "s" }, "a", "s"],
    [{ ALL_PROXY: "a", NO_PROXY: "a.example" }, undefined, undefined],
    [{ ALL_PROXY: "a", no_proxy: "b.example", NO_PROXY: "a.example" }, "a", "a"],
    [{ HTTPS_PROXY: "s", NO_PROXY: "a.example:444" }, undefined, "s"],
  ])("%j", (set, http, https) => {
    const settings = proxySettingsOf(read(set));
    expect([proxyFor(new URL(HTTP), settings)?.host, proxyFor(new URL(HTTPS), settings)?.host]).toEqual([
      http,
      https,
    ]);
  });
});
