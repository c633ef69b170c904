/** Events that are passed on by WebAssembly are those that a plain reading finds, and go out as it writes them. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Around, found, goingOut, passRun, reads, texts } from "../../../../src/base/scan/runs.ts";

interface Passed {
  readonly events: number;
  readonly end: number;
  readonly out: string;
  readonly texts: string;
}

/** The same, event by event. */
function plain(
  read: string,
  from: number,
  head: string,
  tail: string,
  headOut: string,
  tailOut: string,
): Passed {
  const said: string[] = [];
  let at = from;
  for (;;) {
    const start = at + head.length;
    const close = read.indexOf('"', start);
    const text = read.slice(start, close);
    const fits = read.startsWith(head, at) && close > start && read.startsWith(tail, close);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those that JSON has in no string
    if (!fits || /[\u0000-\u001f\\]/.test(text)) break;
    said.push(text);
    at = close + tail.length;
  }
  const out = said.map((text) => headOut + text + tailOut).join("");
  return { events: said.length, end: at, out, texts: said.join("") };
}

const bytes = fc.string({ unit: fc.constantFrom("a", "b", "\u00e9", " "), maxLength: 60 });
const text = fc.string({
  unit: fc.constantFrom("a", "b", "\u00ff", "\\", "\n", "\u001f", " ", "{"),
  maxLength: 40,
});

it("finds what a plain reading finds, in the memory of reads and in any other", () => {
  fc.assert(
    fc.property(
      fc.record({ head: bytes, tail: bytes, headOut: bytes, tailOut: bytes }),
      fc.array(text, { maxLength: 8 }),
      fc.nat(20),
      fc.nat(30),
      fc.boolean(),
      (given, said, before, cut, isOwn) => {
        const head = `data: ${given.head}"`;
        const tail = `"${given.tail}\n\n`;
        const { headOut, tailOut } = given;
        const whole = "?".repeat(before) + said.map((each) => head + each + tail).join("");
        const read = whole.slice(0, whole.length - cut);
        const around = new Around(tail + head, tail.length, tailOut + headOut, tailOut.length);
        // What stands behind a read is of the one before.
        const memory = isOwn ? reads : Buffer.alloc(whole.length);
        memory.write(whole, "latin1");
        goingOut.write("before", "latin1");
        const events = passRun(memory, before, Math.max(before, read.length), around, "before".length);
        const expected = plain(read, before, head, tail, headOut, tailOut);
        expect(found.begins).toBe(read.startsWith(head, expected.end));
        expect(events).toBe(expected.events);
        if (events === 0) return;
        expect({
          events,
          end: found.end,
          out: goingOut.toString("latin1", 0, found.outEnd),
          texts: texts.toString("latin1", 0, found.textEnd),
        }).toEqual({ ...expected, out: `before${expected.out}` });
      },
    ),
    { numRuns: 3000, seed: 3 },
  );
});

it("stops before what goes out has no room, and finds no more in a longer read than it has memory for", () => {
  const around = new Around('"}\n\ndata: {"t":"', 4, "o".repeat(1900), 900);
  const event = 'data: {"t":"a"}\n\n';
  const read = Buffer.from(event.repeat(2000));
  const events = passRun(read, 0, read.length, around, 0);
  expect(events).toBeGreaterThan(90);
  expect(found.outEnd).toBeLessThanOrEqual(goingOut.length);
  expect(found.end).toBe(events * event.length);
  expect(passRun(Buffer.alloc(70_000, "x"), 0, 70_000, around, 0)).toBe(0);
});

it("finds the events of more streams than have a place at a time, in turns, short and long", () => {
  const streams = Array.from({ length: 2100 }, (_, i) => {
    const long = i % 100 === 7 ? "x".repeat(1500) : "";
    return {
      head: `data: {"n":${i},"l":"${long}","t":"`,
      tail: '"}\n\n',
      headOut: `${i}<`,
      tailOut: `>${i}`,
    };
  });
  const arounds = streams.map(
    ({ head, tail, headOut, tailOut }) =>
      new Around(tail + head, tail.length, tailOut + headOut, tailOut.length),
  );
  for (let round = 0; round < 2; round++) {
    for (const [i, { head, tail, headOut, tailOut }] of streams.entries()) {
      const read = `${head}a${tail}${head}b${tail}`;
      reads.write(read, "latin1");
      expect(passRun(reads, 0, read.length, arounds[i] as Around, 0)).toBe(2);
      const out = `${headOut}a${tailOut}${headOut}b${tailOut}`;
      expect(goingOut.toString("latin1", 0, found.outEnd)).toBe(out);
    }
  }
});

it("each of more streams than there are places goes on, also where what is around its events fills its place", () => {
  const tail = '"}\n\n';
  const head = 'data: {"text":"';
  const beginning = Math.ceil((tail.length + head.length) / 16) * 16;
  const headOut = `data: ${"x".repeat(1024 - beginning - tail.length - 6)}`;
  for (let stream = 0; stream < 1100; stream++) {
    const around = new Around(tail + head, tail.length, tail + headOut, tail.length);
    const read = Buffer.from(`${head}word${tail}`);
    expect(passRun(read, 0, read.length, around, 0)).toBe(1);
    expect(goingOut.toString("latin1", 0, found.outEnd)).toBe(`${headOut}word${tail}`);
  }
});
