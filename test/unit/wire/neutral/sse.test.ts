/** Server-sent events, wherever the reads cut them. The standard: WHATWG HTML, "Server-sent events". */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../../src/base/errors.ts";
import { SseReader } from "../../../../src/wire/neutral/sse.ts";
import { anyCharacter } from "../../../support/characters.ts";
import { processorMs } from "../../../support/processor-time.fixtures.ts";

/** A text that is written as such but holds every kind of line and characters of one to four bytes. */
const FEED = [
  ": a comment",
  "",
  "data: plain é",
  "",
  "event: named",
  "id: 7",
  "retry: 10",
  "data: with fields 世",
  "",
  "data:no space",
  "data:  two spaces 🎉",
  "data",
  "data: ",
  "data: after empty ones",
  "",
  "",
  "",
  "dat: not a field",
  "data-x: neither",
  "",
  "data: last",
  "",
  "",
].join("\n");

const EVENTS = ["plain é", "with fields 世", "no space\n two spaces 🎉\n\n\nafter empty ones", "last"];

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

function read(pieces: readonly string[]): string[] {
  const reader = new SseReader(10_000);
  const events: string[] = [];
  const each = (data: string) => events.push(Buffer.from(data, "latin1").toString());
  for (const piece of pieces) reader.push(piece, each);
  reader.end({ onEvent: each });
  return events;
}

const FORMS: readonly [string, string][] = [
  ["LF", latin1(FEED)],
  ["CRLF", latin1(FEED.replaceAll("\n", "\r\n"))],
  ["CR", latin1(FEED.replaceAll("\n", "\r"))],
  ["a byte order mark", latin1(`\uFEFF${FEED}`)],
  ["a byte order mark and CRLF", latin1(`\uFEFF${FEED.replaceAll("\n", "\r\n")}`)],
  ["no final blank line", latin1(FEED.trimEnd())],
  ["no final blank line, CRLF", latin1(FEED.trimEnd().replaceAll("\n", "\r\n"))],
  ["one final line end", latin1(`${FEED.trimEnd()}\n`)],
  ["blank lines in front", latin1(`\n\n\n${FEED}`)],
];

describe.each(FORMS)("with %s", (_, text) => {
  test("T6: comments and other fields are skipped, data lines are joined", () => {
    expect(read([text])).toEqual(EVENTS);
  });

  test("T4, T5: cut once, at every byte", () => {
    for (let cut = 0; cut <= text.length; cut++) {
      expect(read([text.slice(0, cut), text.slice(cut)]), `cut at ${cut}`).toEqual(EVENTS);
    }
  });

  test("T4, T5: cut twice, at every pair of places near each other, with empty reads between", () => {
    for (let cut = 0; cut <= text.length; cut++) {
      for (const width of [1, 2, 3, 17]) {
        const pieces = [text.slice(0, cut), "", text.slice(cut, cut + width), "", text.slice(cut + width)];
        if (read(pieces).join("|") !== EVENTS.join("|")) expect.fail(`cut at ${cut} and ${cut + width}`);
      }
    }
  });

  test("byte by byte", () => {
    expect(read([...text])).toEqual(EVENTS);
  });
});

test("T5: any events in any cuts come out as they went in", () => {
  const data = fc.string({ unit: anyCharacter, minLength: 1 }).map((s) => s.replaceAll(/[\r\n]/g, "_"));
  fc.assert(
    fc.property(
      fc.array(data, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.array(fc.nat(400)),
      (events, eol, cuts) => {
        const text = latin1(events.map((e) => `data: ${e}${eol}${eol}`).join(""));
        const at = [0, ...cuts.map((c) => Math.min(c, text.length)).sort((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
        expect(read(pieces)).toEqual(events.map((e) => Buffer.from(e).toString()));
      },
    ),
    { seed: 7, numRuns: 200 },
  );
});

test("an event without data is none, however it is framed", () => {
  for (const event of ["data: ", "data:", "data", "event: x\ndata: "]) {
    expect(read([`${event}\n\ndata: a\n\n`]), event).toEqual(["a"]);
  }
});

test("a byte order mark counts only at the very beginning", () => {
  expect(read([latin1("data: a\n\n\uFEFFdata: b\n\ndata: c\n\n")])).toEqual(["a", "c"]);
  expect(read(["\u00ef", "\u00bb"])).toEqual([]);
});

test("a reader that knows an event takes it, and only at an event's begin", () => {
  const reader = new SseReader(1000);
  const seen: string[] = [];
  const known = (bytes: Buffer, from: number, to: number): number => {
    if (!bytes.toString("latin1", from, to).startsWith("data: k\n\n")) return -1;
    seen.push("known");
    return from + 9;
  };
  const onEvent = (data: string) => void seen.push(data);
  const read = (text: string) =>
    reader.read(Buffer.from(`?${text}?`), 1, text.length + 1, { onEvent, known });
  read("data: k\n\ndata: a\n\ndata: k\n");
  read("\ndata: k\n\n: k\ndata: k\n\n");
  expect(seen).toEqual(["known", "a", "known", "known", "k"]);
});

describe("T9: bytes without an end", () => {
  test.each([1, 7, 1024, 65_536])("in reads of %i bytes are cut at the bound", (size) => {
    const bound = 256 * 1024;
    const reader = new SseReader(bound);
    const piece = `${"x".repeat(size - 1)}x`;
    let pushed = 0;
    let thrown: unknown;
    while (thrown === undefined && pushed < 4 * bound) {
      try {
        reader.push(piece, () => expect.fail("no event"));
        pushed += size;
      } catch (error) {
        thrown = error;
      }
    }
    expect(thrown).toBeInstanceOf(WeirError);
    expect(thrown).toMatchObject({ kind: "upstream_invalid_response" });
    expect(pushed).toBeLessThanOrEqual(bound);
    expect(pushed).toBeGreaterThan(bound - size);
  });

  test("lines that never make a blank one are cut at the bound as well", () => {
    const reader = new SseReader(10_000);
    const endless = () => {
      for (let i = 0; i < 10_000; i++) reader.push("data: x\n", () => {});
    };
    expect(endless).toThrow(WeirError);
  });

  test("many events larger than the bound together leave nothing behind", () => {
    const reader = new SseReader(1000);
    let events = 0;
    for (let i = 0; i < 10_000; i++) reader.push(`data: ${"y".repeat(500)}\n\n`, () => events++);
    expect(events).toBe(10_000);
  });

  test("an event in small pieces costs its length, not the square of it", () => {
    const reader = new SseReader(1 << 22);
    const piece = "x".repeat(32);
    const took = processorMs(() => {
      for (let i = 0; i < 60_000; i++) reader.push(piece, () => {});
    });
    // 2 MB: some 20 ms; the square of it takes 10 s and more.
    expect(took).toBeLessThan(1500);
  });
});

test("T12: an event of many lines that comes in small pieces is not looked at over and over", () => {
  const lines = 40_000;
  const reader = new SseReader(1 << 24);
  const found: string[] = [];
  const took = processorMs(() => {
    for (let line = 0; line < lines; line++)
      reader.push(`data: ${"x".repeat(40)}\n`, (data) => found.push(data));
    reader.push("\n", (data) => found.push(data));
  });
  expect(found.map((data) => data.length)).toEqual([lines * 41 - 1]);
  // Looked at from the start with each piece it took half a minute.
  expect(took).toBeLessThan(3000);
});
