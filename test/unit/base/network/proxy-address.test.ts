/** Addresses of proxies: what is read of them, what is refused, and that no credential is shown (T61). */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { readProxyAddress } from "../../../../src/base/network/proxy-address.ts";

const WRITTEN: readonly (readonly [text: string, shown: string, signIn: string])[] = [
  ["http://proxy.example:3128", "http://proxy.example:3128", ""],
  ["http://proxy.example", "http://proxy.example:80", ""],
  ["https://proxy.example/", "https://proxy.example:443", ""],
  ["https://proxy.example:8443", "https://proxy.example:8443", ""],
  ["socks5://proxy.example", "socks5://proxy.example:1080", ""],
  ["socks5h://proxy.example:80", "socks5h://proxy.example:80", ""],
  ["proxy.example:3128", "http://proxy.example:3128", ""],
  ["  proxy.example  ", "http://proxy.example:80", ""],
  ["http://proxy.example:3128\n", "http://proxy.example:3128", ""],
  ["http://proxy.example:3128\r\n", "http://proxy.example:3128", ""],
  ["http://my_proxy:3128", "http://my_proxy:3128", ""],
  ["http://proxy.example.:3128", "http://proxy.example.:3128", ""],
  ["HTTP://Proxy.Example:3128", "http://proxy.example:3128", ""],
  ["SOCKS5H://Proxy.Example", "socks5h://proxy.example:1080", ""],
  ["http://[2001:DB8::1]:3128", "http://[2001:db8::1]:3128", ""],
  ["socks5://[::1]", "socks5://[::1]:1080", ""],
  ["http://10.0.0.1", "http://10.0.0.1:80", ""],
  ["http://me:secret@proxy.example", "http://proxy.example:80", "me:secret"],
  ["me:secret@proxy.example:3128", "http://proxy.example:3128", "me:secret"],
  ["http://me%40corp:p%3Aa%2Fs%25@proxy.example", "http://proxy.example:80", "me@corp:p:a/s%"],
  ["http://me:100%@proxy.example", "http://proxy.example:80", "me:100%"],
  ["http://me:a@b@proxy.example", "http://proxy.example:80", "me:a@b"],
  ["http://m%C3%BC:pä@proxy.example", "http://proxy.example:80", "mü:pä"],
  ["http://me@proxy.example", "http://proxy.example:80", "me:"],
  ["socks5://me:secret@proxy.example", "socks5://proxy.example:1080", "me:secret"],
];

test.each(WRITTEN)("%s is read", (text, shown, signIn) => {
  const { shown: isShown, credentials } = readProxyAddress(text);
  const given = credentials === undefined ? "" : `${credentials.user}:${credentials.password}`;
  expect([isShown, given]).toEqual([shown, signIn]);
});

test("hosts have no brackets, and names keep none of their capitals", () => {
  expect(readProxyAddress("http://[::1]:1").host).toBe("::1");
  expect(readProxyAddress("socks5://BÜCHER.example:1").host).toBe("xn--bcher-kva.example");
});

const REFUSED: readonly (readonly [text: string, why: string])[] = [
  ["", "is blank"],
  [" ", "is blank"],
  ["\n\t", "is blank"],
  ['"http://me:s3cret@proxy.example"', "has quotes around it: leave them out"],
  ["'http://me:s3cret@proxy.example'", "has quotes around it: leave them out"],
  ['http://me:s3cret@proxy.example"', "has quotes around it: leave them out"],
  ["\u201chttp://me:s3cret@proxy.example\u201d", "has quotes around it: leave them out"],
  ["http://me:s3cret@pro\nxy.example", "has a line break"],
  ["http://me:s3cret@proxy.example:31\t28", "has a line break"],
  ["http://me:s3cret@proxy.example\u0000", "has a line break"],
  ["$PROXY_URL", "names no host"],
  ["http://me:s3cret@*:3128", "names no host"],
  ["http://me:s3cret@proxy..example", "names no host"],
  ["http://me:s3cret@proxy.example:3128 # ours", "is no URL of a proxy"],
  ["http://proxy.example,http://s3cret.example", "must end behind the port"],
  ["http://", "is no URL of a proxy"],
  ["http://s3cret@:80", "is no URL of a proxy"],
  ["http://me:s3cret#@proxy.example", "is no URL of a proxy"],
  ["http://me:s3cret@proxy.example:99999", "is no URL of a proxy"],
  ["http://me:s3cret@proxy.example:0", "must have a port"],
  ["http://me:12/s3cret@proxy.example", "must end behind the port"],
  ["http://me:12?s3cret@proxy.example", "must end behind the port"],
  ["http://proxy.example/?s3cret", "must end behind the port"],
  ["http://proxy.example/path-s3cret", "must end behind the port"],
  ["socks4://me:s3cret@proxy.example", "must be an http, https, socks5 or socks5h URL"],
  ["socks://proxy.example", "must be an http, https, socks5 or socks5h URL"],
  ["ftp://me:s3cret@proxy.example", "must be an http, https, socks5 or socks5h URL"],
  ["http://me%3As3cret:1@proxy.example", "must have no colon"],
  ["socks5://:s3cret@proxy.example", "must have a user and a password"],
  ["socks5://me@proxy.example", "must have a user and a password"],
  [`socks5://me:${"s3cret".repeat(50)}@proxy.example`, "must have a user and a password"],
  ["socks5://me:s3cret%FF@proxy.example", "must have a user and a password in UTF-8"],
  ["socks5h://%FF:s3cret@proxy.example", "must have a user and a password in UTF-8"],
];

test.each(REFUSED)("%s is refused, and not repeated", (text, why) => {
  let message = "";
  try {
    readProxyAddress(text);
  } catch (error) {
    message = inspect(error, { showHidden: true });
  }
  expect(message).toContain(why);
  expect(message).not.toMatch(/s3cret/);
});

describe("credentials", () => {
  const address = readProxyAddress("http://me:s3cret@proxy.example:3128");
  test("are in nothing that is printed or stored", () => {
    const printed = [JSON.stringify(address), inspect(address, { depth: 9 }), JSON.stringify({ ...address })];
    for (const text of printed) {
      expect(text).toContain("proxy.example");
      expect(text).not.toMatch(/s3cret|bWU6|credentials/);
    }
  });

  test("are part of what an address is known by", () => {
    const same = readProxyAddress("HTTP://me:s3cret@proxy.example:3128");
    const other = readProxyAddress("http://me:other@proxy.example:3128");
    expect([same.id === address.id, other.id === address.id]).toEqual([true, false]);
    expect(address.id).not.toMatch(/s3cret/);
  });
});
