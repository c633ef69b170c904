/** Secrets of a call in what is said of it, in every form in which a server repeats them. */
import { describe, expect, test } from "vitest";
import { readProxyAddress } from "../../../../src/base/network/proxy-address.ts";
import { failure, withoutCredential } from "../../../../src/inference/upstream/failure.ts";
import { withoutSecrets } from "../../../../src/inference/upstream/secrets.ts";

const KEY = "k/0123&456+789=";
const PASSWORD = 'p@ss/w<rd"1';
const PROXY = readProxyAddress(`http://me%40corp:${encodeURIComponent(PASSWORD)}@proxy.example:3128`);
const PAIR = `me@corp:${PASSWORD}`;
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("T61: is taken out", () => {
  test.each([
    ["a key", KEY],
    ["a key in base64", base64(KEY)],
    ["a key in base64 without padding", base64(KEY).replaceAll("=", "")],
    ["a key in base64 for URLs", Buffer.from(KEY).toString("base64url")],
    ["a key in hex", Buffer.from(KEY).toString("hex")],
    ["a key in a URL", encodeURIComponent(KEY)],
    [
      "a key in a URL, in small letters",
      encodeURIComponent(KEY)
        .replaceAll("%2F", "%2f")
        .replaceAll("%3D", "%3d")
        .replaceAll("%26", "%26")
        .replaceAll("%2B", "%2b"),
    ],
    ["a key in a page", KEY.replaceAll("&", "&amp;")],
    ["a proxy's password", PASSWORD],
    ["a proxy's password in base64", base64(PASSWORD)],
    ["a proxy's password in a URL", encodeURIComponent(PASSWORD)],
    ["a proxy's password in JSON", JSON.stringify(PASSWORD).slice(1, -1)],
    ["a proxy's password in a page", "p@ss/w&lt;rd&quot;1"],
    ["both in base64", base64(PAIR)],
    ["both in base64 in a URL", encodeURIComponent(base64(PAIR))],
    ["both, as the header has them", `Basic ${base64(PAIR)}`],
  ])("%s", (_, said) => {
    const clean = withoutSecrets(KEY, [PROXY]);
    for (const text of [said, `it said ${said} here`, `<${said}>`, `${said}${said}`]) {
      expect(clean(text)).toContain("[credential]");
      expect(clean(text)).not.toMatch(/0123|p@ss|p%40ss|cEBzcy|ay8wMTIz|bWVAY29ycDpwQ|6b2f30/);
    }
  });

  test("a text that was cut within it", () => {
    const clean = withoutSecrets(undefined, [PROXY]);
    for (let length = 8; length < base64(PAIR).length; length++) {
      expect(clean(`sent ${base64(PAIR).slice(0, length)}`)).not.toMatch(/bWVAY29y/);
    }
  });

  test.each([
    ["hunter2", "you: me/hunter2 is wrong", "you: me/[credential] is wrong"],
    ["hunter2", "hunter22 of hunter2, xhunter2", "hunter22 of [credential], xhunter2"],
    ["a.+b", "the password a.+b, not aXXb", "the password [credential], not aXXb"],
    ["$&$&", "no $&$& here", "no [credential] here"],
    ["abc", "the alphabet abc", "the alphabet abc"],
  ])("a short password %s as a word alone: %s", (password, said, told) => {
    const proxy = readProxyAddress(`http://me:${encodeURIComponent(password)}@proxy.example`);
    expect(withoutSecrets(undefined, [proxy])(said)).toBe(told);
  });

  test("a password that is no UTF-8", () => {
    const proxy = readProxyAddress("http://me:p%E4ssw%F6rd-1@proxy.example");
    const sent = Buffer.from("me:p\u00e4ssw\u00f6rd-1", "latin1").toString("base64");
    expect(withoutSecrets(undefined, [proxy])(`got ${sent}, p\u00e4ssw\u00f6rd-1`)).toBe(
      "got [credential]==, [credential]".replace(
        "==",
        sent.endsWith("=") ? "=".repeat(sent.split("=").length - 1) : "",
      ),
    );
  });

  test("what a call without any says", () => {
    expect(withoutSecrets(undefined)("any words at all")).toBe("any words at all");
  });
});

describe("every member that a client, a record or a log may have", () => {
  const said = (text: string) => ({
    code: `c ${text}`,
    type: `t ${text}`,
    message: `m ${text}`,
    param: `p ${text}`,
  });
  test.each([
    ["the call's key", KEY, "[credential]"],
    ["the proxy's password", PASSWORD, "[credential]"],
    ["another key", "sk-0123456789abcdefghij", "[credential]"],
    ["an account", "org-VDAWofJASuLH0vVz8o9tiQZr", "[account]"],
    ["a host", "http://vllm:8000", "http://[host]"],
    ["a path", "/models/glm-4/config.json", "[path]"],
  ])("%s", (_, text, told) => {
    const failed = failure("http_error", "server", 500, said(text));
    expect(withoutCredential(failed, KEY, [PROXY]).upstream).toEqual(said(told));
  });

  test("is bounded, also by what is put in its place", () => {
    const text = "https://a.example/?key=a ".repeat(4_000);
    const { upstream } = withoutCredential(failure("http_error", "server", 500, said(text)), undefined);
    const lengths = Object.values(upstream).map((value) => String(value).length);
    expect(lengths).toEqual([200, 200, 2_000, 200]);
  });
});
