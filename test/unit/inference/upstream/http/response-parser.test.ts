/** The parser of answers without a socket: each of its rules, its limits, and that no cut changes what is read. */
import { describe, expect, test } from "vitest";
import {
  type ParserSink,
  ResponseParser,
} from "../../../../../src/inference/upstream/http/response-parser.ts";
import { cutsOf, outcomeOf } from "./reading.ts";

/** However it is cut. */
function expectOutcome(answer: string, expected: string, isClosed = false, places?: number): void {
  for (const pieces of cutsOf(answer, places)) {
    const outcome = outcomeOf(pieces, isClosed);
    // The comparison is much faster than `expect`.
    if (outcome !== expected) expect({ pieces, outcome }).toEqual({ pieces, outcome: expected });
  }
}

const OK = "HTTP/1.1 200 OK\r\n";
const ONE = "content-length: 1\r\n";
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

describe("a head", () => {
  test.each([
    ["is read", `${OK}${ONE}\r\na`, '200 "a" end'],
    ["may have any reason", `HTTP/1.1 404 \xe9\t ~\r\n${ONE}\r\na`, '404 "a" end'],
    ["may have none", `HTTP/1.1 404\r\n${ONE}\r\na`, '404 "a" end'],
    ["may have an empty one", `HTTP/1.1 404 \r\n${ONE}\r\na`, '404 "a" end'],
    ["has a version of HTTP/1", `HTTP/2.0 200 OK\r\n${ONE}\r\na`, "invalid_head"],
    ["has one in capitals", `http/1.1 200 OK\r\n${ONE}\r\na`, "invalid_head"],
    ["has a status of three digits", `HTTP/1.1 20 OK\r\n${ONE}\r\na`, "invalid_head"],
    ["has no status of four", `HTTP/1.1 2000 OK\r\n${ONE}\r\na`, "invalid_head"],
    ["has no status below 100", `HTTP/1.1 099 OK\r\n${ONE}\r\na`, "invalid_head"],
    ["has one blank before the status", `HTTP/1.1  200 OK\r\n${ONE}\r\na`, "invalid_head"],
    ["has no control character in its reason", `HTTP/1.1 200 O\0K\r\n${ONE}\r\na`, "invalid_head"],
    ["has nothing before it", `\r\n${OK}${ONE}\r\na`, "invalid_head"],
    ["has a name before each colon", `${OK}: a\r\n${ONE}\r\na`, "invalid_head"],
    ["has a colon in each field", `${OK}a\r\n${ONE}\r\na`, "invalid_head"],
    ["has no blank before a colon", `${OK}content-length : 1\r\n\r\na`, "invalid_head"],
    ["has no folded line", `${OK}a: b\r\n c: d\r\n${ONE}\r\na`, "invalid_head"],
    ["has no bare LF", `${OK}a: b\nc: d\r\n${ONE}\r\na`, "invalid_head"],
    ["has no bare CR", `${OK}a: b\rc: d\r\n${ONE}\r\na`, "invalid_head"],
    ["has no NUL", `${OK}a: \0\r\n${ONE}\r\na`, "invalid_head"],
    ["has no DEL", `${OK}a: \x7f\r\n${ONE}\r\na`, "invalid_head"],
    ["may have bytes above ASCII", `${OK}content-type: \xff\r\n${ONE}\r\na`, '200 content-type=\xff "a" end'],
    ["may have no fields", "HTTP/1.1 200 OK\r\n\r\na", '200 "a" ...'],
    ["is not complete without its empty line", `${OK}${ONE}\r`, "..."],
    [
      "tells the fields that are read, in any case, the first of each, without blanks around",
      `${OK}Retry-After:\t 1 \t\r\nretry-after: 2\r\nX-Amzn-ErrorType: a\r\nother: b\r\n${ONE}\r\na`,
      '200 retry-after=1 x-amzn-errortype=a "a" end',
    ],
    ["tells an empty field", `${OK}content-type:\r\n${ONE}\r\na`, '200 content-type= "a" end'],
  ])("%s", (_, answer, expected) => expectOutcome(answer, expected));
});

describe("a 1xx head", () => {
  const EARLY = "HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n";
  test.each([
    ["is dropped", `${EARLY}HTTP/1.1 100\r\n\r\n${OK}${ONE}\r\na`, '200 "a" end'],
    ["is not an answer", EARLY, "..."],
    [
      "may say that it has no content",
      `HTTP/1.1 100 A\r\ncontent-length: 0\r\n\r\n${OK}${ONE}\r\na`,
      '200 "a" end',
    ],
    ["has no length", `HTTP/1.1 103 A\r\n${ONE}\r\n${OK}${ONE}\r\na`, "invalid_content_length"],
    [
      "has no coding",
      `HTTP/1.1 103 A\r\ntransfer-encoding: chunked\r\n\r\n${OK}`,
      "invalid_transfer_encoding",
    ],
    ["keeps the rules of heads", `HTTP/1.1 103 A\r\na\r\n\r\n${OK}${ONE}\r\na`, "invalid_head"],
    ["upgrades nothing", "HTTP/1.1 101 A\r\nupgrade: h2c\r\n\r\n", "unexpected_upgrade"],
  ])("%s", (_, answer, expected) => expectOutcome(answer, expected));
});

describe("a body", () => {
  const length = (value: string) => `${OK}content-length: ${value}\r\n\r\na`;
  test.each([
    ["of a length ends there", `${OK}content-length: 5\r\n\r\n\r\n\0\xffa`, '200 "\\r\\n\\u0000\xffa" end'],
    ["of a length is not complete before", `${OK}content-length: 3\r\n\r\nab`, '200 "ab" ...'],
    ["of no bytes is complete at once", `${OK}content-length: 0\r\n\r\n`, "200 end"],
    ["may have zeros before its length", length("0001"), '200 "a" end'],
    ["has a length in digits", length("+1"), "invalid_content_length"],
    ["has no negative one", length("-1"), "invalid_content_length"],
    ["has no hexadecimal one", length("0x1"), "invalid_content_length"],
    ["has no list of lengths", length("1, 1"), "invalid_content_length"],
    ["has no empty length", length(""), "invalid_content_length"],
    ["has no length twice", `${OK}${ONE}Content-Length: 1\r\n\r\na`, "invalid_content_length"],
    ["has up to 15 digits", length("9".repeat(15)), '200 "a" ...'],
    ["has not 16", length("9".repeat(16)), "invalid_content_length"],
    [
      "has no length beside chunks",
      `${OK}${ONE}transfer-encoding: chunked\r\n\r\n`,
      "invalid_content_length",
    ],
    ["has no other coding", `${OK}transfer-encoding: gzip, chunked\r\n\r\n`, "invalid_transfer_encoding"],
    ["has an exact one", `${OK}transfer-encoding: xchunked\r\n\r\n`, "invalid_transfer_encoding"],
    ["has no empty one", `${OK}transfer-encoding:\r\n\r\n`, "invalid_transfer_encoding"],
    [
      "is not chunked twice",
      `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`,
      "invalid_transfer_encoding",
    ],
    ["of 204 is empty", "HTTP/1.1 204 A\r\n\r\n", "204 end"],
    ["of 304 is empty, whatever its length", "HTTP/1.1 304 A\r\ncontent-length: 5\r\n\r\n", "304 last"],
    [
      "of 204 is empty, whatever its coding",
      "HTTP/1.1 204 A\r\ntransfer-encoding: chunked\r\n\r\n",
      "204 last",
    ],
  ])("%s", (_, answer, expected) => expectOutcome(answer, expected));

  test.each([
    ["to the end of the connection", `${OK}\r\nab`, '200 "ab" last'],
    ["to the end of the connection, of no bytes", `${OK}\r\n`, "200 last"],
    ["of a length", `${OK}content-length: 3\r\n\r\nab`, '200 "ab" closed'],
    ["of chunks", `${CHUNKED}1\r\na\r\n0\r\n`, '200 "a" closed'],
    ["that has not begun", OK, "closed"],
  ])("is complete at the end of the connection or not: %s", (_, answer, expected) =>
    expectOutcome(answer, expected, true),
  );
});

describe("chunks", () => {
  test.each([
    ["are put together", "1\r\na\r\n2\r\n\r\n\r\n0\r\n\r\n", '"a\\r\\n" end'],
    [
      "have sizes in either case, and zeros before",
      `00a\r\n${"b".repeat(10)}\r\n00\r\n\r\n`,
      '"bbbbbbbbbb" end',
    ],
    ["may be none", "0\r\n\r\n", "end"],
    ["may have extensions", '1;a;b=c;d="e;f" ; g\r\na\r\n0;h\r\n\r\n', '"a" end'],
    ["may have blanks behind the size", "1 \t\r\na\r\n0 ;a\r\n\r\n", '"a" end'],
    ["have nothing else behind the size", "1 2\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no CR behind a blank and a digit", "1 a\r\nb\r\n0\r\n\r\n", "invalid_chunk"],
    ["have a size", "\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have a size before an extension", ";a\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have one of digits", "1g\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no sign", "-1\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no prefix", "0x1\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no blank before the size", " 1\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no bare LF behind the size", "1\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no bare CR behind the size", "1\ra\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no bare LF in an extension", "1;a\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no bare CR in an extension", "1;a\rb\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["have no control character in an extension", "1;\0\r\na\r\n0\r\n\r\n", "invalid_chunk"],
    ["end with CRLF", "1\r\nab\r\n0\r\n\r\n", '"a" invalid_chunk'],
    ["do not end with LF", "1\r\na\n0\r\n\r\n", '"a" invalid_chunk'],
    ["do not end with CR", "1\r\na\r0\r\n\r\n", '"a" invalid_chunk'],
    ["are not complete without the last one", "1\r\na\r\n", '"a" ...'],
    ["are not complete without the empty line", "1\r\na\r\n0\r\n\r", '"a" ...'],
    ["may have a trailer", "1\r\na\r\n0\r\nA: b\r\nc:\r\n\r\n", '"a" end'],
    ["have a trailer of fields", "1\r\na\r\n0\r\nA\r\n\r\n", '"a" invalid_trailer'],
    ["have no folded trailer", "0\r\nA: b\r\n c\r\n\r\n", "invalid_trailer"],
    ["have no bare LF in the trailer", "0\r\nA: b\nc: d\r\n\r\n", "invalid_trailer"],
    ["have no CR instead of the trailer", "0\r\n\rA: b\r\n\r\n", "invalid_trailer"],
  ])("%s", (_, body, expected) => expectOutcome(`${CHUNKED}${body}`, `200 ${expected}`));
});

describe("a connection carries another answer", () => {
  const head = (version: string, fields: string) => `HTTP/${version} 200 OK\r\n${fields}${ONE}\r\na`;
  test.each([
    ["if nothing is said", head("1.1", ""), "end"],
    ["not if it closes", head("1.1", "connection: Close\r\n"), "last"],
    ["not if it closes in a list", head("1.1", "connection: keep-alive\r\nconnection: x ,close\r\n"), "last"],
    ["if the option only looks so", head("1.1", "connection: closed\r\n"), "end"],
    ["not in HTTP/1.0", head("1.0", ""), "last"],
    ["if HTTP/1.0 says so", head("1.0", "connection: Keep-Alive\r\n"), "end"],
    ["not if HTTP/1.0 says both", head("1.0", "connection: keep-alive, close\r\n"), "last"],
    ["not with a byte behind it", `${head("1.1", "")}b`, "last"],
    ["not with an answer behind it", head("1.1", "").repeat(2), "last"],
  ])("%s", (_, answer, expected) => expectOutcome(answer, `200 "a" ${expected}`));

  test("not with chunks of HTTP/1.0, or with bytes behind chunks or behind nothing", () => {
    const old = "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    expectOutcome(old, "200 last");
    expectOutcome(`${CHUNKED}0\r\n\r\nb`, "200 last");
    expectOutcome("HTTP/1.1 204 A\r\n\r\nb", "204 last");
  });

  test.each([
    ["timeout=5", 5_000],
    ["max=9, Timeout = 60", 60_000],
    ['timeout="5"', 5_000],
    ["timeout=0", 0],
    ["max=9", undefined],
    ["xtimeout=5", undefined],
    ["timeout=-5", undefined],
    ["timeout=soon", undefined],
  ])("for a time: %s", (value, expected) => {
    const parser = new ResponseParser({ onHead() {}, onData() {}, onEnd() {} });
    const push = (text: string) => {
      parser.begin();
      parser.push(Buffer.from(text), text.length);
      return parser.keepAliveMs;
    };
    expect(push(head("1.1", `keep-alive: ${value}\r\n`))).toBe(expected);
    // And not what another answer has said.
    expect(push(head("1.1", ""))).toBeUndefined();
  });
});

describe("what is held, or could hide something, has a limit", () => {
  const KB16 = 16 * 1024;
  /** Cuts are tried around the end, where the limit is. */
  const expectLimit = (of: (bytes: number) => string, limit: number, atLimit: string, above: string) => {
    expectOutcome(of(limit), atLimit, false, 12);
    expectOutcome(of(limit + 1), above, false, 12);
  };
  const field = (bytes: number) => `a: ${"b".repeat(bytes - 3)}`;
  const head = (bytes: number) => `${OK}${ONE}${field(bytes - OK.length - ONE.length)}`;

  test("a head, without its empty line", () => {
    expectLimit((bytes) => `${head(bytes)}\r\n\r\na`, KB16, '200 "a" end', "head_too_large");
  });

  test("a head whose end does not come", () => {
    expectOutcome(head(KB16 + 3), "...", false, 12);
    expectOutcome(head(KB16 + 4), "head_too_large", false, 12);
  });

  test("all heads of an answer together, of which each may be short", () => {
    const early = "HTTP/1.1 103\r\n\r\n";
    const earlyBytes = 100 * (early.length - 4);
    const both = (bytes: number) => `${early.repeat(100)}${head(bytes - earlyBytes)}\r\n\r\na`;
    expectLimit(both, KB16, '200 "a" end', "head_too_large");
    expectOutcome(early.repeat(KB16 / 12 + 1), "head_too_large", false, 12);
  });

  test("a trailer", () => {
    const trailer = (bytes: number) => `${CHUNKED}0\r\n${field(bytes - 2)}\r\n\r\n`;
    expectLimit(trailer, KB16, "200 end", "200 head_too_large");
  });

  test("an extension, and blanks instead of it", () => {
    const extended = (bytes: number) => `${CHUNKED}1;${"e".repeat(bytes)}\r\na\r\n0\r\n\r\n`;
    expectLimit(extended, 1024, '200 "a" end', "200 invalid_chunk");
    const blanks = (bytes: number) => `${CHUNKED}1${" ".repeat(bytes)}\r\na\r\n0\r\n\r\n`;
    expectLimit(blanks, 1024, '200 "a" end', "200 invalid_chunk");
    // The limit is for each chunk anew.
    const chunk = `1;${"e".repeat(1024)}\r\na\r\n`;
    expectOutcome(`${CHUNKED}${chunk.repeat(3)}0\r\n\r\n`, '200 "aaa" end', false, 12);
  });

  test("the size of a chunk, and its digits", () => {
    expectOutcome(`${CHUNKED}10000000000\r\na`, '200 "a" ...');
    expectOutcome(`${CHUNKED}10000000001\r\na`, "200 invalid_chunk");
    expectLimit(
      (digits) => `${CHUNKED}${"0".repeat(digits - 1)}1\r\na`,
      16,
      '200 "a" ...',
      "200 invalid_chunk",
    );
  });
});

describe("the sink", () => {
  const ANSWERS = {
    "a length": `${OK}content-length: 2\r\n\r\nab`,
    chunks: `${CHUNKED}1\r\na\r\n1\r\nb\r\n0\r\nc: d\r\n\r\n`,
    "broken chunks": `${CHUNKED}1\r\na\r\n1\r\nb0\r\n\r\n`,
    "a body to the end": `${OK}\r\nab`,
    "no content": "HTTP/1.1 204 A\r\n\r\n",
  };
  const CALLS = ["onHead", "onData", "onEnd"] as const;
  const cases = Object.entries(ANSWERS).flatMap(([what, answer]) =>
    CALLS.map((call) => [call, what, answer] as const),
  );

  /** Reads an answer and does something in the first of these calls. @returns the calls, and what was thrown */
  function callsOf(pieces: readonly string[], act: (parser: ResponseParser, call: string) => void) {
    const calls: string[] = [];
    const called = (call: string) => {
      calls.push(call);
      act(parser, call);
    };
    const sink: ParserSink = {
      onHead: () => called("onHead"),
      onData: () => called("onData"),
      onEnd: () => called("onEnd"),
    };
    const parser: ResponseParser = new ResponseParser(sink);
    parser.begin();
    for (const piece of pieces) parser.push(Buffer.from(piece, "latin1"), piece.length);
    parser.finish();
    return calls;
  }

  test.each(cases)("hears nothing more after it has stopped in %s, of %s", (stopped, what, answer) => {
    for (const pieces of cutsOf(answer)) {
      const calls: string[] = [];
      try {
        callsOf(pieces, (parser, call) => {
          calls.push(call);
          if (call === stopped) parser.stop();
        });
      } catch (error) {
        // What is broken may be told of, but only while it is read.
        expect([what, String(error)]).toEqual(["broken chunks", expect.stringContaining("invalid_chunk")]);
      }
      const at = calls.indexOf(stopped);
      if (at >= 0) expect(calls.slice(at)).toEqual([stopped]);
    }
  });

  test.each(cases)("throws in %s, of %s: who has pushed the bytes learns of it", (throwing, _, answer) => {
    for (const pieces of cutsOf(answer)) {
      let thrown = false;
      const read = () =>
        callsOf(pieces, (__, call) => {
          if (call !== throwing) return;
          thrown = true;
          throw new Error("of the sink");
        });
      try {
        read();
        expect(thrown).toBe(false);
      } catch (error) {
        expect(String(error)).toContain(thrown ? "of the sink" : "invalid_chunk");
      }
    }
  });

  test("gets the content of a read in one piece, in the memory of the read, however many chunks it has", () => {
    const pieces: Buffer[] = [];
    const onData = (bytes: Buffer, start: number, end: number) => pieces.push(bytes.subarray(start, end));
    const parser = new ResponseParser({ onHead() {}, onData, onEnd() {} });
    parser.begin();
    const text = "each byte is a chunk";
    const chunks = [...text].map((character) => `1\r\n${character}\r\n`).join("");
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const memory = Buffer.from(`${head}${chunks}`, "latin1");
    parser.push(memory, memory.length);
    expect(pieces.map(String)).toEqual([text]);
    memory.fill("?");
    expect(pieces.map(String)).toEqual(["?".repeat(text.length)]);
  });

  test("gets what came before a fault", () => {
    const pieces: string[] = [];
    const onData = (bytes: Buffer, start: number, end: number) =>
      pieces.push(bytes.toString("latin1", start, end));
    const parser = new ResponseParser({ onHead() {}, onData, onEnd() {} });
    parser.begin();
    const answer = Buffer.from(
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\nx\r\n",
    );
    expect(() => parser.push(answer, answer.length)).toThrow("invalid_chunk");
    expect(pieces).toEqual(["ab"]);
  });

  test("hears nothing of bytes that nobody asked for", () => {
    const calls: string[] = [];
    const sink = { onHead: () => calls.push("head"), onData() {}, onEnd: () => calls.push("end") };
    const parser = new ResponseParser(sink);
    const push = () => parser.push(Buffer.from(ANSWERS["no content"]), ANSWERS["no content"].length);
    push();
    expect([calls, parser.finish()]).toEqual([[], false]);
    parser.begin();
    push();
    push();
    expect(calls).toEqual(["head", "end"]);
  });
});
