/**
 * The ends of requests, over raw sockets: what a proxy in front of us may read in another way is refused, so that nothing that
 * one client sends is taken for another's request. The table in docs/errors.md tells each answer. Some of these connections are
 * closed after ten seconds only: `http.test.ts` runs its own tests meanwhile.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";

let gateway: TestGateway;

const BODY = JSON.stringify({
  model: "weir/sim-small",
  messages: [{ role: "user", content: "Hi" }],
  max_tokens: 2,
});
const LENGTH = `Content-Length: ${BODY.length}`;
const CHUNKED = "Transfer-Encoding: chunked";
const inChunks = (extension = "", trailer = "") =>
  `${BODY.length.toString(16)}${extension}\r\n${BODY}\r\n0\r\n${trailer}\r\n`;
const SMUGGLED = "GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n";

/** Everything that came back until the connection closed. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () =>
      socket.write(bytes, "latin1"),
    );
    socket.on("data", (data) => (text += data.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}

const request = (lines: readonly string[], body: string, host = "Host: weir") =>
  [
    "POST /v1/chat/completions HTTP/1.1",
    ...(host === "" ? [] : [host]),
    `Authorization: Bearer ${gateway.testKey}`,
    ...lines,
    "",
    body,
  ].join("\r\n");

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => Number(m[1]));

/** What the request is, its bytes, what comes back, and whether that is an error of ours. The connection always ends. */
const CASES: [string, () => string, number | "nothing", "ours" | "its own" | "no error"][] = [
  ["`Content-Length` twice, differing", () => request([LENGTH, "Content-Length: 5"], BODY), 400, "ours"],
  ["`Content-Length` twice, the same", () => request([LENGTH, LENGTH], BODY), 400, "ours"],
  [
    "`Content-Length` as a list",
    () => request([`Content-Length: ${BODY.length}, ${BODY.length}`], BODY),
    400,
    "its own",
  ],
  ["`Content-Length` that is empty", () => request(["Content-Length:"], BODY), 400, "ours"],
  ["`Content-Length` that is no number", () => request(["Content-Length: +5"], BODY), 400, "its own"],
  ["`Transfer-Encoding` twice", () => request([CHUNKED, CHUNKED], inChunks()), 400, "ours"],
  [
    "`Transfer-Encoding` that is not `chunked`",
    () => request(["Transfer-Encoding: gzip, chunked"], inChunks()),
    400,
    "ours",
  ],
  [
    "`Transfer-Encoding` beside `Content-Length`",
    () => request([CHUNKED, LENGTH], inChunks()),
    400,
    "its own",
  ],
  ["no `Host`", () => request([LENGTH], BODY, ""), 400, "its own"],
  ["`Host` twice", () => request([LENGTH, "Host: other"], BODY), 400, "ours"],
  ["chunks", () => request([CHUNKED], inChunks()), 200, "no error"],
  ["chunk extensions", () => request([CHUNKED], inChunks(" ;a=b")), 200, "no error"],
  ["chunk extensions without a space", () => request([CHUNKED], inChunks(";a=b")), 408, "ours"],
  ["trailers", () => request([CHUNKED], inChunks("", "X-Sum: abc\r\n")), 505, "its own"],
  ["a chunk's size that is no number", () => request([CHUNKED], "zz\r\n"), 400, "its own"],
  [
    "a request line of a proxy (`GET http://…`)",
    () => "GET http://weir/healthz HTTP/1.1\r\nHost: weir\r\n\r\n",
    505,
    "its own",
  ],
  ["HTTP/1.0", () => "GET /healthz HTTP/1.0\r\nHost: weir\r\n\r\n", 505, "its own"],
  [
    "a line that continues the one before (obs-fold)",
    () => request(["X-A: a", " b", LENGTH], BODY),
    "nothing",
    "its own",
  ],
  [
    "NUL or another control character in a line",
    () => request(["X-A: a\u0000b", LENGTH], BODY),
    "nothing",
    "its own",
  ],
  ["a space before a colon", () => request(["X-A : a", LENGTH], BODY), "nothing", "its own"],
  ["lines that end in LF alone", () => request([LENGTH], BODY).replaceAll("\r\n", "\n"), 505, "its own"],
];

/** What is sent ahead, and behind it what must not be taken for a request. */
const AHEAD: [string, () => string][] = [
  [
    "a second length",
    () => request(["Content-Length: 2", `Content-Length: ${SMUGGLED.length + 2}`], `{}${SMUGGLED}`),
  ],
  ["an empty length", () => request(["Content-Length:"], SMUGGLED)],
  ["another coding", () => request(["Transfer-Encoding: identity"], `0\r\n\r\n${SMUGGLED}`)],
  ["a second host", () => request(["Host: other"], SMUGGLED)],
  ["the last chunk", () => request([CHUNKED], inChunks() + SMUGGLED)],
  [
    "a trailer that reads like a request",
    () => request([CHUNKED], inChunks("", "XXA: /healthz HTTP/1.1\r\nHost: weir\r\n")),
  ],
  [
    "chunks to a route that answers at once",
    () => `POST /nowhere HTTP/1.1\r\nHost: weir\r\n${CHUNKED}\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ["chunks to a page", () => `GET /healthz HTTP/1.1\r\nHost: weir\r\n${CHUNKED}\r\n\r\n0\r\n\r\n${SMUGGLED}`],
];

/** Asked all at once before the first test. */
const answers = new Map<string, Promise<string>>();

/** Its tests, which a file calls behind those that may run while connections are waited for. */
export function framing(): void {
  beforeAll(async () => {
    gateway = await testGateway({
      settings: { timeouts: { upload_ms: 500 } },
    });
    for (const [what, bytes] of [...CASES, ...AHEAD]) answers.set(what, exchange(bytes()));
  });
  afterAll(() => gateway.stop());

  describe("the ends of requests", () => {
    test.each(CASES)("O16: %s", async (what, _, status, whose) => {
      const text = await (answers.get(what) as Promise<string>);
      expect(statusesOf(text)).toEqual(status === "nothing" ? [] : [status]);
      expect(text.includes('"error":{')).toBe(whose === "ours");
      if (whose === "ours") expect(text.toLowerCase()).toContain("connection: close");
    });

    test("O16: docs/errors.md has the same table", () => {
      const docs = readFileSync(join(import.meta.dirname, "../../../docs/errors.md"), "utf8");
      for (const [what, , status, whose] of CASES) {
        const answer =
          status === "nothing"
            ? "none, closed after 8 to 12 s"
            : `${status}${whose === "ours" ? ", JSON" : ""}`;
        expect(docs.includes(`| ${what} | ${answer} |`), `${what}: ${answer}`).toBe(true);
      }
    });

    test.each(AHEAD)("O16: what stands behind %s is no request", async (what) => {
      const text = await (answers.get(what) as Promise<string>);
      expect(statusesOf(text).length).toBeLessThanOrEqual(1);
      expect(text).not.toContain('{"status":"ok"}HTTP');
    });

    test("O16: nothing of a client's framing goes upstream", async () => {
      const calls = gateway.simulator.totalCalls;
      const text = await exchange(request([CHUNKED, "X-Smuggled: 1", "Connection: close"], inChunks()));
      expect(statusesOf(text)).toEqual([200]);
      expect(gateway.simulator.totalCalls).toBe(calls + 1);
      await atRest(gateway);
    });

    test("O16: each answer says how long the connection stays", async () => {
      for (const path of ["/healthz", "/v1/models", "/nowhere"]) {
        expect((await gateway.call("GET", path)).headers.get("keep-alive")).toBe("timeout=8");
      }
      expect((await gateway.chat()).headers.get("keep-alive")).toBe("timeout=8");
      expect((await gateway.chat({ stream: true })).headers.get("keep-alive")).toBe("timeout=8");
    });
  });
}
