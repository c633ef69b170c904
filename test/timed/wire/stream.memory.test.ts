/**
 * What a stream holds between two reads, which for a client that reads nothing is as long as it likes (T10): no slice of a
 * read beyond the event that has not ended, because a slice keeps all of the read alive.
 */
import { expect, test } from "vitest";
import type { Dialect, Endpoint } from "../../../src/base/endpoint.ts";
import type { AnswerStream, FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import type { StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { endpointsOf, IDENTITY, wayTo } from "../../support/fuzz/rules.ts";
import { requestSeeds } from "../../support/fuzz/seeds.ts";
import { heapBytes } from "../../support/heap.ts";

/** Formats that are dialects, too, so that their writers make upstream streams. */
const OWN: readonly FormatName[] = ["chat", "responses", "messages"];
const STREAMS = 200;
const DELTA_BYTES = 8_000;
/** Bytes of an event that has not ended. */
const REST_BYTES = 100;
/** The stream's objects, and the rest. A slice of the read would be 33 KB more. */
const MOST_BYTES_EACH = 12_000;

const delta: StreamEvent = { type: "delta", choice: 0, part: 0, text: "a word ".repeat(DELTA_BYTES / 7) };

test.each(OWN.flatMap((from) => OWN.map((to) => [from, to] as const)))(
  "T10: a stream of %s to a client of %s keeps nothing of what it has read",
  (from, to) => {
    const [asked = ""] = requestSeeds(from);
    const [wanted = ""] = requestSeeds(to);
    const request = FORMATS[to].read(Buffer.from(wanted, "latin1"));
    const upstream = FORMATS[from].generation?.streamWriter(
      FORMATS[from].read(Buffer.from(asked, "latin1")),
      IDENTITY,
    );
    const passage = wayTo(FORMATS[to], endpointsOf(from as Dialect)[0] as Endpoint);
    if (upstream === undefined || passage === undefined) throw new Error("no such stream");
    const opening = upstream.write({ type: "begin", choice: 0, part: 0, kind: "text" });
    // The first of them are read in full, and the others may fit a frame that was learned.
    const more = upstream.write(delta).repeat(4);
    const rest = upstream.write(delta).slice(0, REST_BYTES);
    const streams: AnswerStream[] = [];
    const open = (count: number) => {
      for (let i = 0; i < count; i++) {
        const stream = passage.stream(request, { ...IDENTITY, maxCaptureBytes: 0 });
        stream.push(ownMemory(opening + more));
        stream.push(ownMemory(more + rest));
        streams.push(stream);
      }
    };
    open(20);
    const before = heapBytes();
    open(STREAMS);
    const each = (heapBytes() - before) / STREAMS;
    expect(streams.every(({ textBytes }) => textBytes > 0)).toBe(true);
    expect(each).toBeLessThan(MOST_BYTES_EACH);
  },
);

/** As a read comes: a string of its own. */
const ownMemory = (text: string): string => Buffer.from(text, "latin1").toString("latin1");
