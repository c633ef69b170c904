/**
 * Every way in which the gateway's client differs from undici on purpose: by what in the answer, for which reason, and to
 * which end. What differs without a name here is a fault.
 */
import type { Answer } from "./answers.ts";
import type { Result } from "./two-clients.ts";

export interface Difference {
  readonly name: string;
  readonly applies: (answer: Answer) => boolean;
  /** What the two may make of it. */
  readonly allows: (ours: Result, theirs: Result) => boolean;
  /** An answer on which they do differ: a rule that covers nothing must go. */
  readonly example: Answer;
}

const answer = (text: string, closing: Answer["closing"] = "keep"): Answer => ({ text, cuts: [], closing });

/** The heads of an answer, as far as they are complete; the last one is the final one's. */
function headsOf(text: string): { readonly informational: readonly string[]; readonly final: string } {
  const informational: string[] = [];
  let rest = text;
  while (/^HTTP\/1\.[01] 1\d\d/.test(rest) && rest.includes("\r\n\r\n")) {
    const end = rest.indexOf("\r\n\r\n");
    informational.push(rest.slice(0, end));
    rest = rest.slice(end + 4);
  }
  // Not the lines' ends before it.
  const end = rest.indexOf("\r\n\r\n", rest.search(/[^\r\n]/));
  return { informational, final: end < 0 ? rest : rest.slice(0, end) };
}

const someHead = (pattern: RegExp) => (given: Answer) => {
  const { informational, final } = headsOf(given.text);
  return [...informational, final].some((head) => pattern.test(head));
};
const informationalHead = (pattern: RegExp) => (given: Answer) =>
  headsOf(given.text).informational.some((head) => pattern.test(head));
const finalHead = (pattern: RegExp) => (given: Answer) => pattern.test(headsOf(given.text).final);

const CHUNK_LINE = /(?<=\n)[\da-f]+[\t ]*(?:;[^\r\n]*)?\r\n/gi;
/** Without blanks, and each extension with a name. */
const PLAIN_CHUNK_LINE =
  /^[\da-f]+(?:;[!#$%&'*+\-.^_`|~\da-z]+(?:=(?:[!#$%&'*+\-.^_`|~\da-z]+|"[^"\\]*"))?)*\r\n$/i;

const weRefuse = (ours: Result) => ours.first.end === "failed" && !ours.reused;
const theyRefuse = (_: Result, theirs: Result) => theirs.first.end === "failed" && !theirs.reused;

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export const DIFFERENCES: readonly Difference[] = [
  {
    // RFC 9110, 15.2: a client must be able to parse 1xx answers that it did not ask for. undici refuses 100.
    name: "100 Continue is dropped",
    applies: informationalHead(/^HTTP\/1\.[01] 100/),
    allows: theyRefuse,
    example: answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9112, 9.6: the option tells of the end of the connection, which comes behind the final answer. undici refuses more.
    name: "a 1xx answer that announces the end of the connection is dropped",
    applies: informationalHead(/^HTTP\/1\.0|\r\n(?:proxy-)?connection:[^\r]*close/i),
    allows: theyRefuse,
    example: answer("HTTP/1.0 103 A\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9112, 6.1 and 6.2: a 1xx answer has no content; undici ignores what says so.
    name: "a 1xx answer with content is refused",
    applies: informationalHead(/\r\n(?:content-length:[\t ]*0*[1-9]|transfer-encoding:)/i),
    allows: weRefuse,
    example: answer(
      "HTTP/1.1 103 A\r\ncontent-length: 1\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na",
    ),
  },
  {
    // RFC 9112, 2.3: HTTP/1.0 and 1.1 are framed so; others are not ours to guess.
    name: "other versions are refused",
    applies: someHead(/^HTTP\/(?!1\.[01] )/),
    allows: weRefuse,
    example: answer("HTTP/2.0 200 OK\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9112, 2.2: only servers may ignore an empty line before a message.
    name: "an empty line before an answer is refused",
    applies: someHead(/^[\r\n]/),
    allows: weRefuse,
    example: answer("\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9110, 15: a status is 100 to 999, and its digits are followed by a blank.
    name: "a status line that is none is refused",
    applies: someHead(/^HTTP\/1\.[01] (?![1-9]\d\d(?:\r\n| [\t\x20-\x7e\x80-\xff]*\r\n))/),
    allows: weRefuse,
    example: answer("HTTP/1.1 200 O\0K\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9112, 6.1: other codings were not asked for, and an unknown one hides where the answer ends.
    name: "a transfer coding other than chunked is refused",
    applies: finalHead(
      /\r\ntransfer-encoding:(?:(?![\t ]*chunked[\t ]*(?:\r|$))|[\s\S]*\r\ntransfer-encoding:)/i,
    ),
    allows: weRefuse,
    example: answer("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
  },
  {
    // RFC 9110, 5.5: blanks behind a value are not part of it. undici takes such an answer for one that ends with its connection.
    name: "blanks behind chunked",
    applies: finalHead(/\r\ntransfer-encoding:[\t ]*chunked[\t ]+(?:\r|$)/i),
    allows: (ours, theirs) => ours.first.status === theirs.first.status || theyRefuse(ours, theirs),
    example: answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\t\r\n\r\n1\r\na\r\n0\r\n\r\n"),
  },
  {
    // RFC 9110, 5.5, too. undici refuses tabs and several blanks there, or computes another length than its parser.
    name: "blanks behind a length",
    applies: someHead(/\r\ncontent-length:[\t ]*\d+[\t ]+(?:\r|$)/i),
    allows: theyRefuse,
    example: answer("HTTP/1.1 200 OK\r\ncontent-length: 1 \t\r\n\r\na"),
  },
  {
    // RFC 9112, 7.1.1: recipients ignore extensions that they do not know; these are not even looked at.
    name: "extensions of chunks are dropped, whatever they say",
    applies: ({ text }) => (text.match(CHUNK_LINE) ?? []).some((line) => !PLAIN_CHUNK_LINE.test(line)),
    allows: theyRefuse,
    example: answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1 ; a = b\r\na\r\n0\r\n\r\n"),
  },
  {
    // RFC 9112, 6.1: chunks in HTTP/1.0 are faulty framing, and the connection must be closed.
    name: "a connection with chunks of HTTP/1.0 is not used again",
    applies: finalHead(/^HTTP\/1\.0[\s\S]*\r\ntransfer-encoding:/i),
    allows: (ours, theirs) => same(ours, { ...theirs, reused: false }),
    example: answer(
      "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ),
  },
  {
    // RFC 9112, C.2.2, has no rule for hints in 1xx answers, nor for several ones: of several undici reads one, and keeps
    // one of an earlier answer. Both are only advice, and what comes on an idle connection closes it.
    name: "hints of how long a connection is kept",
    applies: someHead(/\r\nkeep-alive:/i),
    allows: (ours, theirs) => same({ ...ours, reused: theirs.reused }, theirs),
    example: answer(
      "HTTP/1.1 103 A\r\nkeep-alive: timeout=1\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na",
    ),
  },
  {
    // RFC 9110, 6.5.1: a trailer's fields do not frame anything. undici counts them for this answer, or for the next.
    name: "a trailer's fields frame nothing",
    applies: ({ text }) =>
      /\n0+(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding|connection):/i.test(text),
    allows: (ours, theirs) =>
      ours.first.end === "ended" && (theyRefuse(ours, theirs) || theirs.second.end === "failed"),
    example: answer(
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\ntransfer-encoding: chunked, gzip\r\n\r\n",
    ),
  },
  {
    // RFC 9110, 5.5, once more: undici does not find the option.
    name: "blanks behind close",
    applies: finalHead(/\r\nconnection:[^\r]*close[\t ]+(?:\r|$)/i),
    allows: (ours, theirs) => same(ours, { ...theirs, reused: false }),
    example: answer("HTTP/1.1 200 OK\r\nconnection: close \t\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9110, 5.5, once more, where ours finds the option that keeps a connection of HTTP/1.0.
    name: "blanks behind keep-alive in HTTP/1.0",
    applies: finalHead(/^HTTP\/1\.0[\s\S]*\r\nconnection:[^\r]*keep-alive[\t ]+(?:\r|$)/i),
    allows: (ours, theirs) => same(ours, { ...theirs, reused: true }),
    example: answer("HTTP/1.0 200 OK\r\nconnection: keep-alive \t\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9112, 9.2: what was not asked for must not be taken for an answer; undici skips line ends.
    name: "an empty line behind an answer ends its connection",
    applies: ({ text }) => /\n[\r\n]*\r\n[\r\n]+$/.test(text),
    allows: (ours, theirs) => same(ours, { ...theirs, reused: false }),
    example: answer("HTTP/1.1 204 No Content\r\n\r\n\r\n"),
  },
  {
    // RFC 9110, 8.6: lengths that are no exact numbers are to be expected. Nothing is as long as this.
    name: "lengths of more than 15 digits are refused",
    applies: someHead(/\r\ncontent-length:[\t ]*\d{16,}/i),
    allows: weRefuse,
    example: answer("HTTP/1.1 304 A\r\ncontent-length: 9999999999999999\r\n\r\n"),
  },
  {
    // RFC 9112, 9.3: `close` is looked for first, whatever the version.
    name: "close wins over keep-alive in HTTP/1.0",
    applies: finalHead(/^HTTP\/1\.0[\s\S]*\r\nconnection:[^\r]*close/i),
    allows: (ours, theirs) => same(ours, { ...theirs, reused: false }),
    example: answer("HTTP/1.0 200 OK\r\nconnection: keep-alive, close\r\ncontent-length: 1\r\n\r\na"),
  },
  {
    // RFC 9112, 8: an answer that ends with its connection is complete unless the connection reports an error.
    name: "a reset does not complete an answer",
    applies: ({ closing }) => closing === "reset",
    allows: (ours, theirs) => same({ ...ours.first, end: "ended" }, theirs.first) && !ours.reused,
    example: answer("HTTP/1.1 200 OK\r\n\r\na", "reset"),
  },
  {
    // A head, or a trailer, is read once it is complete; until then there is nothing that could be mistaken.
    name: "a broken head is refused at its end",
    applies: () => true,
    allows: (ours, theirs) => theirs.atOnce && same({ ...ours, atOnce: true }, theirs) && weRefuse(ours),
    example: answer("HTTP/1.1 200 OK\nconnection"),
  },
];

/** What the two differ by: nothing if they agree, undefined if that has no name. */
export function differenceOf(given: Answer, ours: Result, theirs: Result): string | undefined {
  if (same(ours, theirs)) return "nothing";
  return DIFFERENCES.find((one) => one.applies(given) && one.allows(ours, theirs))?.name;
}
