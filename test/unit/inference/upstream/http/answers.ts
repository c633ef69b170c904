/** Answers of a provider as bytes: valid ones in great variety, and damaged ones. */
import fc from "fast-check";

/** What a provider does with one request. */
export interface Answer {
  /** Latin1. */
  readonly text: string;
  /** The places at which the text is cut into writes; those out of range cut nothing. */
  readonly cuts: readonly number[];
  /** What follows: nothing as long as the answer is complete without it, the end of the connection, or its reset. */
  readonly closing: "keep" | "end" | "reset";
}

/** The pieces of the text, none of them empty. */
export function piecesOf({ text, cuts }: Answer): readonly string[] {
  const places = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])];
  const sorted = places.sort((a, b) => a - b);
  return sorted.slice(1).map((end, i) => text.slice(sorted[i], end));
}

const flat = (parts: fc.Arbitrary<string>, size: { minLength?: number; maxLength: number }) =>
  fc.array(parts, size).map((all) => all.join(""));
const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((all) => Buffer.from(all).toString("latin1"));

/** Sizes around those of a read are rare, as they cost time. */
const body = fc.oneof(
  { weight: 20, arbitrary: bytes(60) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(bytes(9), fc.integer({ min: 1, max: 8_000 }))
      .map(([seed, times]) => seed.repeat(times)),
  },
);

const randomCase = (name: string) => fc.mixedCase(fc.constant(name), { untoggleAll: (text) => text });
const blank = fc.constantFrom("", " ", " ", "  ", "\t", " \t ");
const token = fc.constantFrom("a", "x-b", "~!#$%&'*+.^_`|", "Via9");
const fieldText = flat(fc.constantFrom("a", "Z", "9", " ", "\t", ",", ":", ";", '"', "=", "\x80", "\xff"), {
  maxLength: 8,
});

const rarelyBlank = fc.oneof({ weight: 20, arbitrary: fc.constant("") }, { weight: 1, arbitrary: blank });

const field = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>, blankBehind = rarelyBlank) =>
  fc.tuple(name, blank, value, blankBehind).map(([n, before, v, after]) => `${n}:${before}${v}${after}\r\n`);

const named = (name: string, value: fc.Arbitrary<string>) => field(randomCase(name), value);

const otherField = fc.oneof(
  field(token, fieldText),
  named(
    "content-type",
    fc.constantFrom("application/json", "text/event-stream; charset=utf-8", "", "x/\xe9"),
  ),
  named("content-encoding", fc.constantFrom("identity", "gzip")),
  named("retry-after", fc.constantFrom("1", "Wed, 21 Oct 2026 07:28:00 GMT", "")),
  named("retry-after-ms", fc.constantFrom("250")),
  named("x-amzn-errortype", fc.constantFrom("ThrottlingException:http://x")),
  named("connection", fc.constantFrom("keep-alive", "close", "x, Close ,y", "keep-alive, close", "x", "")),
  named("keep-alive", fc.constantFrom("timeout=5", "timeout=1", "timeout=2, max=9", "max=1", "TIMEOUT = 60")),
);

const extension = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("", "", ";a", ";a=b", ';a="b c"', ";a;b=c") },
  { weight: 1, arbitrary: fc.constantFrom(" ;a", "; a = b", " ", ";", ";\xe9", " 1") },
);

/** A chunk's size: any case, and any number of zeros before it. */
const sizeLine = (size: number) =>
  fc.tuple(fc.boolean(), fc.nat({ max: 3 }), extension).map(([isUpper, zeros, ext]) => {
    const digits = size.toString(16);
    return `${"0".repeat(zeros)}${isUpper ? digits.toUpperCase() : digits}${ext}\r\n`;
  });

const chunk = (text: string) => sizeLine(text.length).map((line) => `${line}${text}\r\n`);

const chunked = fc
  .tuple(
    fc.array(body.filter((text) => text !== "").chain(chunk), { maxLength: 5 }),
    sizeLine(0),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant("") },
      { weight: 1, arbitrary: flat(otherField, { maxLength: 2 }) },
    ),
  )
  .map(([chunks, last, trailer]) => `${chunks.join("")}${last}${trailer}\r\n`);

interface Framed {
  readonly field: string;
  readonly body: string;
}

const withLength = body.chain((text) =>
  fc.record({
    field: named(
      "content-length",
      fc.nat({ max: 2 }).map((zeros) => `${"0".repeat(zeros)}${text.length}`),
    ),
    body: fc.constant(text),
  }),
);
const withChunks = fc.record({
  field: named("transfer-encoding", fc.constantFrom("chunked", "Chunked")),
  body: chunked,
});
const untilClose = fc.record({ field: fc.constant(""), body });

const framed: fc.Arbitrary<Framed> = fc.oneof(
  { weight: 4, arbitrary: withLength },
  { weight: 5, arbitrary: withChunks },
  { weight: 1, arbitrary: untilClose },
);

const version = fc.constantFrom("1.1", "1.1", "1.1", "1.1", "1.0");
const reason = fc.constantFrom(" OK", " ", "", " Too Many  Requests", " \xe9t\xe9\t");
const statusLine = (status: fc.Arbitrary<number>) =>
  fc.tuple(version, status, reason).map(([v, s, r]) => `HTTP/${v} ${s}${r}\r\n`);

const informational = fc
  .tuple(statusLine(fc.constantFrom(100, 102, 103, 103, 199)), flat(otherField, { maxLength: 2 }))
  .map(([line, fields]) => `${line}${fields}\r\n`);

const withContent = fc
  .record({
    line: statusLine(fc.constantFrom(200, 200, 200, 201, 205, 301, 400, 401, 404, 429, 500, 503, 529, 999)),
    fields: fc.array(otherField, { maxLength: 4 }),
    framed,
    at: fc.nat({ max: 4 }),
  })
  .map(({ line, fields, framed, at }) => {
    const all = [...fields.slice(0, at), framed.field, ...fields.slice(at)];
    return `${line}${all.join("")}\r\n${framed.body}`;
  });

const withoutContent = fc
  .tuple(
    statusLine(fc.constantFrom(204, 304)),
    fc.constantFrom(
      "",
      "",
      "content-length: 0\r\n",
      "content-length: 5\r\n",
      "transfer-encoding: chunked\r\n",
    ),
    flat(otherField, { maxLength: 3 }),
  )
  .map(([line, framing, fields]) => `${line}${fields}${framing}\r\n`);

const finalAnswer = fc.oneof({ weight: 9, arbitrary: withContent }, { weight: 1, arbitrary: withoutContent });

const validText = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant("") },
      { weight: 1, arbitrary: flat(informational, { minLength: 1, maxLength: 3 }) },
    ),
    finalAnswer,
  )
  .map((parts) => parts.join(""));

const splice = (text: string, at: number, removed: number, inserted: string) =>
  text.slice(0, at) + inserted + text.slice(at + removed);

/** The places behind each occurrence; 0 if there is none. */
const placesBehind = (text: string, found: string): readonly number[] => {
  const places: number[] = [];
  for (let at = text.indexOf(found); at >= 0; at = text.indexOf(found, at + 1))
    places.push(at + found.length);
  return places.length > 0 ? places : [0];
};

const INSERTED_LINES = [
  "content-length: 5\r\n",
  "Content-Length: 0\r\n",
  "content-length: +5\r\n",
  "content-length: 5, 5\r\n",
  "content-length:\r\n",
  "content-length : 5\r\n",
  "content-length: 0x5\r\n",
  `content-length: ${"9".repeat(16)}\r\n`,
  "transfer-encoding: chunked\r\n",
  "transfer-encoding: gzip, chunked\r\n",
  "transfer-encoding: chunked, gzip\r\n",
  "transfer-encoding: identity\r\n",
  "transfer-encoding:\x0bchunked\r\n",
  "transfer-encoding\r\n",
  " folded\r\n",
  "a: b\rc: d\r\n",
  "a: b\nc: d\r\n",
  ": empty\r\n",
  "\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
] as const;

const SPECIAL = [
  "\r",
  "\n",
  "\r\n",
  "\0",
  " ",
  "\t",
  ":",
  ";",
  ",",
  "0",
  "1",
  "f",
  "g",
  "-",
  "\x7f",
  "\x0b",
] as const;

/** A place in a text of any length, mostly near its beginning, where the head is. */
const place = fc.oneof({ weight: 2, arbitrary: fc.nat({ max: 200 }) }, fc.nat({ max: 99_999 }));
const within = (at: number, text: string) => (text === "" ? 0 : at % text.length);

const mutation: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.tuple(place, fc.nat({ max: 255 })).map(
    ([at, byte]) =>
      (text: string) =>
        splice(text, within(at, text), 1, String.fromCharCode(byte)),
  ),
  fc.tuple(place, fc.constantFrom(...SPECIAL), fc.nat({ max: 2 })).map(
    ([at, special, removed]) =>
      (text: string) =>
        splice(text, within(at, text), removed, special),
  ),
  // A line's end without its CR, or without its LF.
  fc.tuple(fc.nat({ max: 20 }), fc.boolean()).map(([nth, isCr]) => (text: string) => {
    const places = placesBehind(text, "\r\n");
    return splice(text, Math.max(0, (places[nth % places.length] as number) - (isCr ? 2 : 1)), 1, "");
  }),
  fc.tuple(fc.nat({ max: 8 }), fc.constantFrom(...INSERTED_LINES)).map(([nth, line]) => (text: string) => {
    const places = placesBehind(text, "\r\n");
    return splice(text, places[nth % places.length] as number, 0, line);
  }),
  place.map((at) => (text: string) => text.slice(0, within(at, text))),
  fc.oneof(bytes(5), validText).map((more) => (text: string) => text + more),
  fc
    .constantFrom("HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "http/1.1", "ICY", "HTTP/1.1 ", "\r\nHTTP/1.1")
    .map((other) => (text: string) => text.replace(/^HTTP\/1\.\d/, other)),
  fc
    .constantFrom("000", "099", "20", "2000", "2x0", "101", "200,")
    .map((status) => (text: string) => text.replace(/(?<=^HTTP\/1\.\d )\d\d\d/, status)),
);

const mutatedText = fc
  .tuple(validText, fc.array(mutation, { minLength: 1, maxLength: 2 }))
  .map(([text, mutations]) => mutations.reduce((damaged, mutate) => mutate(damaged), text));

export const answers: fc.Arbitrary<Answer> = fc.record({
  text: fc.oneof(validText, mutatedText),
  cuts: fc.array(fc.oneof({ weight: 3, arbitrary: fc.nat({ max: 250 }) }, fc.nat({ max: 50_000 })), {
    maxLength: 4,
  }),
  closing: fc.constantFrom("keep", "keep", "keep", "end", "reset"),
});
