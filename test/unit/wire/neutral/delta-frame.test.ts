/** Events that readers take by a learned frame come to what they would have come to when parsed, at every cut. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../../src/base/endpoint.ts";
import { GENERATION_DIALECTS } from "../../../../src/wire/dialects.ts";
import { DeltaFrames, frameKeys, type Growth } from "../../../../src/wire/neutral/frames/delta-frames.ts";
import type { StreamEvent } from "../../../../src/wire/neutral/neutral.ts";
import type { StreamReader } from "../../../../src/wire/neutral/reader.ts";

const latin1 = (json: string): string => Buffer.from(json).toString("latin1");
const json = (text: string): string => latin1(JSON.stringify(text));

interface Stream {
  /** What comes before the first delta. */
  readonly open: readonly string[];
  delta(text: string, at: number): string;
}

/** Each event as its dialect's servers write it, with what differs from one to the next. */
const STREAMS: Readonly<Partial<Record<Dialect, Stream>>> = {
  chat: {
    open: [],
    delta: (text, at) =>
      `data: {"id": "c", "choices":[{"index":0,"delta":{"content": ${json(text)}},"finish_reason":null}],"obfuscation":"${"x".repeat(at % 5)}"}\n\n`,
  },
  responses: {
    open: ['data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}\n\n'],
    delta: (text, at) =>
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${at},"item_id":"m","output_index":0,"content_index":0,"delta":${json(text)},"logprobs":[]}\n\n`,
  },
  messages: {
    open: ['data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'],
    delta: (text, at) =>
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${json(text)}}${" ".repeat(at % 4)}}\n\n`,
  },
  gemini: {
    open: [],
    delta: (text) => `data: {"candidates":[{"content":{"parts":[{"text":${json(text)}}]},"index":0}]}\n\n`,
  },
};

const CASES = Object.entries(STREAMS) as [Dialect, Stream][];

const readerOf = (dialect: Dialect): StreamReader => {
  const reader = GENERATION_DIALECTS.get(dialect)?.streamReader(1 << 20);
  if (reader === undefined) throw new Error(`no dialect ${dialect}`);
  return reader;
};

function eventsOf(dialect: Dialect, reads: readonly string[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  const reader = readerOf(dialect);
  for (const read of reads) reader.push(read, (event) => events.push(event));
  reader.end((event) => events.push(event));
  return events;
}

const texts = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", " a", '"', "\\", "\n", "é", "🎉", '"content":"x"', "\u0000", "\\u0041", "}]}\n\n"),
  ),
  { maxLength: 12 },
);

describe("deltas by frame", () => {
  test.each(CASES)(
    "%s: T4, T5: the same as parsed, however the stream is cut",
    (dialect, { open, delta }) => {
      fc.assert(
        fc.property(texts, fc.array(fc.nat()), (said, cuts) => {
          const events = said.map(delta);
          // An event that cannot be read comes to nothing, and makes the reader forget its frame.
          const parsed = eventsOf(dialect, [...open, ...events.flatMap((event) => [event, "data: no\n\n"])]);
          const whole = [...open, ...events].join("");
          const places = [
            0,
            ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b),
            whole.length,
          ];
          const reads = places.slice(1).map((place, at) => whole.slice(places[at], place));
          expect(eventsOf(dialect, reads)).toEqual(parsed);
        }),
        { numRuns: 300, seed: 1 },
      );
    },
  );

  test.each(CASES)("%s: usual events are not parsed", (dialect, { open, delta }) => {
    const reader = readerOf(dialect);
    const parse = JSON.parse;
    let parses = 0;
    JSON.parse = (...args) => {
      parses++;
      return parse(...args) as unknown;
    };
    let deltas = 0;
    try {
      for (let at = 0; at < 50; at++) {
        const read = (at === 0 ? open.join("") : "") + delta(` word${at}`, at);
        reader.push(read, ({ type }) => {
          if (type === "delta") deltas++;
        });
      }
    } finally {
      JSON.parse = parse;
    }
    expect(deltas).toBe(50);
    // The first may begin the part as well.
    expect(parses).toBeLessThanOrEqual(open.length + 2);
  });
});

describe("a frame", () => {
  const keys = frameKeys(["text", "summary"], ["n"]);
  const learned = (data: string, text: string): DeltaFrames => {
    const frames = new DeltaFrames(keys);
    frames.learn(data, "", text);
    return frames;
  };
  const fits = (frames: DeltaFrames, data: string): string | undefined => {
    const event = Buffer.from(`data: ${data}\n\n`, "latin1");
    let said = "";
    const growth: Growth = {
      passing: () => undefined,
      grewBy(read, start, end) {
        said += read.toString("latin1", start, end);
      },
      grewByText(text) {
        said += text;
      },
    };
    return frames.fit(event, 0, event.length, growth) === event.length ? said : undefined;
  };

  test("takes another text, another count, and white space where no string follows", () => {
    const frames = learned('{"n":1,"text":"a"}', "a");
    expect(fits(frames, '{"n":27,"text":"b\\n"}')).toBe("b\\n");
    expect(fits(frames, '{"n":27,"text":"b"   }')).toBe("b");
  });

  test.each([
    ["another member", '{"n":1,"text":"b","x":1}'],
    ["no text", '{"n":1,"text":""}'],
    ["no string", '{"n":1,"text":5}'],
    ["a count that is no JSON", '{"n":01,"text":"b"}'],
    ["no count", '{"n":,"text":"b"}'],
    ["an escape that is none", '{"n":1,"text":"\\x"}'],
    ["a bare line feed", '{"n":1,"text":"a\nb"}'],
    ["an end that is missing", '{"n":1,"text":"b'],
  ])("does not take %s", (_, data) => {
    expect(fits(learned('{"n":1,"text":"a"}', "a"), data)).toBeUndefined();
  });

  test.each([
    ["another string says something", '{"text":"a","summary":"b"}'],
    ["the text stands twice", '{"text":"a","in":{"text":"a"}}'],
    ["the data are of several lines", '{"text":\n"a"}'],
  ])("is not learned where %s", (_, data) => {
    expect(fits(learned(data, "a"), data)).toBeUndefined();
  });

  test("takes a text in other escapes as a reader writes it, from the event that it is learned from on", () => {
    expect(fits(learned('{"n":1,"text":"a"}', "a"), '{"n":1,"text":"\\u0062\\/"}')).toBe("b/");
    expect(fits(learned('{"n":1,"text":"\\u0061"}', "a"), '{"n":1,"text":"\\u00e9"}')).toBe(latin1("é"));
    expect(fits(learned('{"n":1,"text":"\\u0061"}', "b"), '{"n":1,"text":"c"}')).toBeUndefined();
  });

  test("is learned beside members that say nothing", () => {
    expect(fits(learned('{"summary":null,"text":"text"}', "text"), '{"summary":null,"text":"b"}')).toBe("b");
  });
});
