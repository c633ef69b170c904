/** URLs as tenants write them, and as those write them who want to get past the check. */
import { describe, expect, test } from "vitest";
import { parseTarget } from "../../../src/outbound/target.ts";
import { PUBLIC_ONLY, rulesOf, WITH_LOOPBACK } from "../../support/outbound/fixtures.ts";

const refusal = (url: string, rules = PUBLIC_ONLY): string => {
  try {
    return `accepted: ${parseTarget(url, rules)}`;
  } catch (error) {
    expect(error).toMatchObject({ kind: "invalid_value", param: "/url" });
    return (error as Error).message;
  }
};

describe("a URL is saved in its normal form", () => {
  test.each([
    ["https://hooks.example.com", "https://hooks.example.com/"],
    ["https://hooks.example.com/a?b=c", "https://hooks.example.com/a?b=c"],
    ["HTTPS://Hooks.EXAMPLE.com:443/A", "https://hooks.example.com/A"],
    ["https://hooks.example.com:8443/", "https://hooks.example.com:8443/"],
    ["https://hooks.example.com/#secret", "https://hooks.example.com/"],
    ["https://hooks.example.com./", "https://hooks.example.com/"],
    ["https://hooks.example.com.:8443/", "https://hooks.example.com:8443/"],
    ["https://a_b.example.com/", "https://a_b.example.com/"],
    ["https://münchen.example/", "https://xn--mnchen-3ya.example/"],
    ["https://ＨＯＯＫＳ.example.com/", "https://hooks.example.com/"],
    ["https:\\\\hooks.example.com\\a", "https://hooks.example.com/a"],
    ["https://@hooks.example.com/", "https://hooks.example.com/"],
    ["https://8.8.8.8/", "https://8.8.8.8/"],
    ["https://0x08.8.8.8/", "https://8.8.8.8/"],
    ["https://[2606:4700:0::1111]/", "https://[2606:4700::1111]/"],
    ["https://hooks.example.com/%0d%0aHost:%20a", "https://hooks.example.com/%0d%0aHost:%20a"],
    ["https://hooks.example.com/ä", "https://hooks.example.com/%C3%A4"],
  ])("%s is %s", (url, normal) => {
    expect(parseTarget(url, PUBLIC_ONLY)).toBe(normal);
  });
});

describe("every way to write an address that is not public is refused", () => {
  test.each([
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "0177.1",
    "127.0.0.1.",

    "017700000001",
    "0x7F.0x0.0x0.0x1",
    "%31%32%37.0.0.1",
    "127.0.0.%31",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "0",
    "0.0.0.0",
    "00000.0",
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "224.0.0.1",

    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::7f00:1]",

    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:0:0:0:0:80ff:fffe]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[::ffff:0:7f00:1]",
    "255.255.255.255",
  ])("https://%s/", (host) => {
    expect(refusal(`https://${host}/`)).toBe("Calls to this address and port are not allowed.");
  });

  test.each([
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "a.b.localhost.",
    "ｌocalhost",
    "%6cocalhost",
  ])("https://%s/", (host) => {
    expect(refusal(`https://${host}/`)).toBe("Calls to this host and port are not allowed.");
  });

  test.each([
    "redis",
    "redis.",
    "printer.local",
    "vault.internal",
    "metadata.google.internal",
    "router.home.arpa",
    "home.arpa",
    "a.INTERNAL.",
    "com",
  ])("https://%s/, a name of a private network", (host) => {
    expect(refusal(`https://${host}/`)).toBe("Calls to hosts of a private network are not allowed.");
  });
});

describe("what is no plain https URL is refused", () => {
  test.each([
    ["http://hooks.example.com/", "https://"],
    ["http://8.8.8.8/", "https://"],
    ["ftp://hooks.example.com/", "https://"],
    ["file:///etc/passwd", "https://"],
    ["gopher://127.0.0.1:6379/_", "https://"],
    ["javascript:alert(1)", "https://"],
    ["data:text/plain,a", "https://"],
    ["ws://hooks.example.com/", "https://"],
    ["https://foo@127.0.0.1/", "user name"],
    ["http://foo@127.0.0.1", "user name"],
    ["https://hooks.example.com@127.0.0.1/", "user name"],
    ["https://a:b@hooks.example.com/", "user name"],
    ["https://:b@hooks.example.com/", "user name"],
    ["https://hooks.example.com:0/", "port 0"],
    ["https://hooks.example.com:65536/", "not a valid URL"],
    ["https://hooks.example.com:-1/", "not a valid URL"],
    ["https://", "not a valid URL"],
    ["https:///", "not a valid URL"],
    ["", "not a valid URL"],
    ["hooks.example.com/a", "not a valid URL"],
    ["//hooks.example.com/a", "not a valid URL"],
    ["https://[::1", "not a valid URL"],
    ["https://[fe80::1%25eth0]/", "not a valid URL"],
    ["https://256.1.1.1/", "not a valid URL"],
    ["https://1.2.3.4.5/", "not a valid URL"],
    ["https://a b.example.com/", "white space"],
    ["https://127.0.0\n.1/", "white space"],
    ["https://hooks.exa\tmple.com/", "white space"],
    ["ht\ntps://hooks.example.com/", "white space"],
    [" https://hooks.example.com/", "white space"],
    ["https://hooks.example.com/\r\nHost: a", "white space"],
    ["https://hooks.example.com/\0", "white space"],
    ["https://hooks..example.com/", "not a valid name"],
    ["https://localhost../", "not a valid name"],
    ["https://a,b.example.com/", "not a valid name"],
    ["https://a*b.example.com/", "not a valid name"],
    [`https://${"a".repeat(64)}.example.com/`, "not a valid"],
    [`https://${"a.".repeat(130)}com/`, "not a valid"],
    [`https://hooks.example.com/${"a".repeat(2048)}`, "longer than 2048"],
    [`https://hooks.example.com/${"ä".repeat(400)}`, "longer than 2048"],
    ["https://".padEnd(5_000_000, "a"), "longer than 2048"],
  ])("%j", (url, message) => {
    expect(refusal(url)).toContain(message);
  });

  test("the error names the field that the caller says", () => {
    expect(() => parseTarget("http://a.example/", PUBLIC_ONLY, "/sso/issuer")).toThrow(
      expect.objectContaining({ kind: "invalid_value", param: "/sso/issuer" }),
    );
  });
});

describe("where loopback is allowed", () => {
  test.each([
    ["http://localhost:8080/a", "http://localhost:8080/a"],
    ["http://hooks.localhost/", "http://hooks.localhost/"],
    ["http://127.0.0.1/", "http://127.0.0.1/"],
    ["http://127.1:9000/", "http://127.0.0.1:9000/"],
    ["http://[::1]:9000/", "http://[::1]:9000/"],
    ["http://[::ffff:7f00:1]/", "http://[::ffff:7f00:1]/"],
    ["https://localhost/", "https://localhost/"],
  ])("%s is accepted, also without TLS", (url, normal) => {
    expect(parseTarget(url, WITH_LOOPBACK)).toBe(normal);
  });

  test.each([
    ["http://hooks.example.com/", "https://"],
    ["http://10.0.0.1/", "not allowed"],
    ["http://0.0.0.0/", "not allowed"],
    ["https://vault.internal/", "private network"],
    ["https://redis/", "private network"],
  ])("%s is refused as before", (url, message) => {
    expect(refusal(url, WITH_LOOPBACK)).toContain(message);
  });

  test("localhost is accepted if one of its two addresses is", () => {
    expect(parseTarget("http://localhost/", rulesOf(["::1/128"]))).toBe("http://localhost/");
    expect(refusal("http://localhost/", rulesOf(["127.0.0.2/32"]))).toContain("not allowed");
  });

  test("the gateway's own ports are refused", () => {
    const rules = rulesOf(["127.0.0.0/8", "::1/128"], { ownPorts: () => [8787, 443] });
    expect(refusal("http://127.0.0.1:8787/", rules)).toContain("not allowed");
    expect(refusal("http://localhost:8787/", rules)).toContain("not allowed");
    expect(refusal("https://[::1]/", rules)).toContain("not allowed");
    expect(parseTarget("http://localhost:8788/", rules)).toBe("http://localhost:8788/");
  });
});

test("the name under which others know the gateway is refused, in any spelling, on its port", () => {
  const rules = rulesOf([], {
    isNameOfInstallation: (name, port) => name === "gateway.example.com" && port === 443,
  });
  for (const host of ["gateway.example.com", "GATEWAY.Example.com.", "gateway.example.com:443"])
    expect(refusal(`https://${host}/hook`, rules)).toContain("the gateway itself");
  for (const host of ["gateway.example.com:8443", "other.gateway.example.com"])
    expect(parseTarget(`https://${host}/hook`, rules)).toBe(`https://${host}/hook`);
});

describe("where a private range is allowed", () => {
  const rules = rulesOf(["10.0.0.0/8"]);

  test.each([
    "https://10.1.2.3/",
    "https://vault.internal/",
    "https://redis/",
    "https://printer.local:8443/",
  ])("%s is accepted", (url) => {
    expect(parseTarget(url, rules)).toBe(url);
  });

  test.each(["http://10.1.2.3/", "http://vault.internal/", "https://192.168.0.1/", "https://localhost/"])(
    "%s is refused",
    (url) => {
      expect(refusal(url, rules)).not.toContain("accepted");
    },
  );
});
