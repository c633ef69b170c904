/** JSON by position: it finds what JSON.parse finds, and its edits change what they name and not one byte more. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../../src/base/errors.ts";
import { editedParts } from "../../../../src/wire/json/edited-bytes.ts";
import {
  applyEdits,
  type Edit,
  latin1Json,
  MAX_DEPTH,
  MAX_MEMBERS,
  memberOf,
  removeMembers,
  setMember,
  skim,
  utf8Of,
} from "../../../../src/wire/json/json.ts";
import { closingQuote, isClosing } from "../../../../src/wire/json/json-string.ts";
import { anyCharacter } from "../../../support/characters.ts";
import { processorMs } from "../../../support/processor-time.fixtures.ts";

type Json = Record<string, unknown>;

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

/** Text with all that is awkward in JSON: escapes, quotes, backslash runs, brackets, every length of character. */
const words = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom(
    '"',
    "\\",
    '\\"',
    "\\\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\u0000",
    "é",
    "世",
    "🎉",
    "data:x",
    "\n",
  ),
  fc.constantFrom(
    "long ".repeat(1000),
    "A".repeat(5000),
    `data:image/png;base64,${"iVBOR".repeat(900)}`,
    "世".repeat(1500),
  ),
);
const key = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 6 }),
  fc.constantFrom("a", "s", "svc", "url", '"', "\\", "é"),
);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    words,
    fc.oneof(fc.double({ noNaN: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** An object as JSON text with white space wherever it may stand, and escapes where plain characters would do. */
const written = fc
  .tuple(fc.dictionary(key, value, { maxKeys: 6 }), fc.constantFrom("", " ", "\n\t", "\r\n  "), fc.boolean())
  .map(([object, space, escaped]) => {
    const text = (v: unknown): string => {
      if (Array.isArray(v)) return `[${space}${v.map(text).join(`${space},${space}`)}${space}]`;
      if (typeof v === "object" && v !== null) {
        const members = Object.entries(v).map(([k, m]) => `${text(k)}${space}:${space}${text(m)}`);
        return `{${space}${members.join(`${space},${space}`)}${space}}`;
      }
      return escaped && typeof v === "string" ? latin1Json(v).replaceAll("s", "\\u0073") : JSON.stringify(v);
    };
    return `${space}${text(object)}${space}`;
  });

const parseLatin1 = (text: string): unknown => JSON.parse(utf8Of(text));

describe("skim", () => {
  test("finds the members that JSON.parse finds, each with its value", () => {
    fc.assert(
      fc.property(written, (text) => {
        const whole = JSON.parse(text) as Json;
        const bytes = latin1(text);
        const { members } = skim(bytes);
        const found = members.map((m) => [utf8Of(m.key), parseLatin1(bytes.slice(m.valueStart, m.valueEnd))]);
        expect(Object.fromEntries(found)).toEqual(whole);
        expect(members).toHaveLength(Object.keys(whole).length);
        for (const m of members) {
          expect(parseLatin1(bytes.slice(m.start, m.keyEnd))).toBe(utf8Of(m.key));
          expect(bytes.slice(m.valueStart, m.valueEnd).trim()).toHaveLength(m.valueEnd - m.valueStart);
        }
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  test("the skeleton is the same JSON but for its long strings", () => {
    const emptied = (v: unknown): unknown => {
      if (typeof v === "string") return JSON.stringify(v).length > 1000 ? "long" : v;
      if (Array.isArray(v)) return v.map(emptied);
      if (typeof v !== "object" || v === null) return v;
      return Object.fromEntries(Object.entries(v).map(([k, m]) => [k, emptied(m)]));
    };
    const long = (v: unknown): unknown => (v === "" || v === "data:" ? "long" : v);
    fc.assert(
      fc.property(written, (text) => {
        const { skeleton } = skim(latin1(text));
        const plain = JSON.stringify(emptied(JSON.parse(text)), (_, v) => (v === "" ? "long" : v));
        expect(JSON.stringify(parseLatin1(skeleton), (_, v) => long(v)).replaceAll('"data:"', '"long"')).toBe(
          plain,
        );
      }),
      { seed: 12, numRuns: 200 },
    );
  });

  test("what JSON.parse refuses is refused by it or by its skeleton, always with a WeirError", () => {
    const mutated = fc.tuple(
      written,
      fc.nat(),
      fc.constantFrom("", '"', "\\", "{", "}", "[", "]", ",", ":", "x", "0", "\n", "\\u12"),
      fc.boolean(),
    );
    const parses = (text: string): boolean => {
      try {
        const v: unknown = JSON.parse(text);
        return typeof v === "object" && v !== null && !Array.isArray(v);
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(mutated, ([text, at, put, cut]) => {
        const i = at % (text.length + 1);
        const broken = text.slice(0, i) + put + (cut ? "" : text.slice(i + 1));
        let accepted = true;
        try {
          parseLatin1(skim(latin1(broken)).skeleton);
        } catch (error) {
          accepted = false;
          if (!(error instanceof SyntaxError)) expect(error).toBeInstanceOf(WeirError);
        }
        // What JSON.parse takes may be refused: a member may stand twice now.
        if (accepted) expect(parses(broken)).toBe(true);
      }),
      { seed: 13, numRuns: 500 },
    );
  });

  test.each([
    ["", "invalid_json"],
    ["   ", "invalid_json"],
    ["[]", "invalid_json"],
    ['"x"', "invalid_json"],
    ["null", "invalid_json"],
    ["{", "invalid_json"],
    ['{"a":1', "invalid_json"],
    ['{"a', "invalid_json"],
    ['{"a\\', "invalid_json"],
    ['{"a"', "invalid_json"],
    ['{"a":"b\\"}', "invalid_json"],
    ["{}}", "invalid_json"],
    ["{} x", "invalid_json"],
    ['{"a" 1}', "invalid_json"],
    ['{"\\x":1}', "invalid_json"],
    ["\u00ef\u00bb\u00bf{}", "invalid_json"],
    ['{"a":1,"a":2}', "invalid_value"],
    ['{"a":1,"\\u0061":2}', "invalid_value"],
    [latin1('{"é":1,"\\u00e9":2}'), "invalid_value"],
  ])("%s is %s", (text, kind) => {
    expect(() => skim(text)).toThrow(expect.objectContaining({ kind }));
  });

  test("an escape of a long string is seen as a whole, wherever a part of it ends", () => {
    for (let before = 65_528; before <= 65_540; before++) {
      const text = (piece: string) => `{"a":"${"x".repeat(before)}${piece}${"x".repeat(70_000)}"}`;
      for (const piece of ["\\u00e9", "\\n", "\\\\"]) expect(skim(text(piece)).elided).toHaveLength(1);
      for (const piece of ["\\u00e", "\\u00eg", "\\x", "\n"]) {
        const message = expect.stringContaining(`(at byte ${6 + before})`);
        expect(() => skim(text(piece))).toThrow(expect.objectContaining({ kind: "invalid_json", message }));
      }
    }
  });

  test("a member that stands twice is named by a JSON pointer, in its own characters", () => {
    const twice = `{${Array.from({ length: 30 }, (_, i) => `"m${i}":1,`).join("")}"é/~":1,"é/~":2}`;
    for (const text of ['{"é/~":1,"é/~":2}', twice]) {
      expect(() => skim(latin1(text))).toThrow(
        expect.objectContaining({ param: "/é~1~0", message: expect.stringContaining('"é/~"') }),
      );
    }
    expect(() => skim('{"a":{"b":1,"b":2}}')).not.toThrow();
  });

  test("nesting to the bound passes, one deeper and 10,000 deep do not", () => {
    const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    expect(skim(nested(MAX_DEPTH)).members).toHaveLength(1);
    for (const depth of [MAX_DEPTH + 1, 10_000]) {
      expect(() => skim(nested(depth))).toThrow(expect.objectContaining({ kind: "invalid_value" }));
      expect(() => skim(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`)).toThrow(WeirError);
    }
  });

  test("members to the bound pass, one more and 100,000 do not", () => {
    const wide = (n: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`m${i}`, i])));
    expect(skim(wide(MAX_MEMBERS)).members).toHaveLength(MAX_MEMBERS);
    for (const n of [MAX_MEMBERS + 1, 100_000]) {
      expect(() => skim(wide(n))).toThrow(expect.objectContaining({ kind: "invalid_value" }));
    }
    expect(skim(`{"nested":${wide(MAX_MEMBERS + 1)}}`).members).toHaveLength(1);
  });

  test("media count as opaque only behind the formats' keys; elsewhere they are prose to a model", () => {
    const url = `data:image/png;base64,${"iVBOR".repeat(200)}`;
    const base64 = "QUJD".repeat(100);
    const prose = "word ".repeat(100);
    const opaque = (v: unknown): number => skim(JSON.stringify({ m: v })).members[0]?.opaqueBytes ?? -1;
    expect(opaque([{ image_url: { url } }])).toBe(url.length);
    expect(opaque([{ url }, { data: base64 }, { file_data: url }])).toBe(2 * url.length + base64.length);
    expect(opaque({ content: url })).toBe(0);
    expect(opaque({ text: base64 })).toBe(0);
    expect(opaque({ url: prose })).toBe(0);
    expect(opaque({ url: ["x", url] })).toBe(0);
    expect(opaque(["url", url])).toBe(0);
    expect(opaque({ url: "data:," })).toBe(0);
    expect(
      skim(JSON.stringify({ a: { url }, b: { text: prose } })).members.map((m) => m.opaqueBytes),
    ).toEqual([url.length, 0]);
    expect(skim(`{"m" : { "url" :\n "${url}" } }`).members[0]?.opaqueBytes).toBe(url.length);
  });
});

describe("edits", () => {
  const six = fc.uniqueArray(key, { minLength: 1, maxLength: 6 });

  test("removing any members at any places leaves the others, byte for byte", () => {
    fc.assert(
      fc.property(
        six,
        fc.array(value, { minLength: 6, maxLength: 6 }),
        fc.constantFrom("", " ", "\n "),
        (keys, values, s) => {
          const parts = keys.map((k, i) => `${JSON.stringify(k)}${s}:${s}${JSON.stringify(values[i])}`);
          const text = latin1(`{${s}${parts.join(`${s},${s}`)}${s}}`);
          const { members } = skim(text);
          for (let set = 0; set < 1 << keys.length; set++) {
            const gone = keys.filter((_, i) => (set >> i) & 1);
            const kept = parts.filter((_, i) => !((set >> i) & 1));
            const out = applyEdits(text, removeMembers(members, gone.map(latin1)));
            expect(parseLatin1(out)).toEqual(JSON.parse(`{${kept.join(",")}}`));
            for (const part of kept) expect(out.includes(latin1(part))).toBe(true);
            if (gone.length === 0) expect(out).toBe(text);
          }
        },
      ),
      { seed: 21, numRuns: 40 },
    );
  });

  test("setting members replaces the ones there and adds the others; all else stays as it came", () => {
    fc.assert(
      fc.property(
        written,
        fc.uniqueArray(fc.constantFrom<string>("a", "s", "new", "svc"), { minLength: 1 }),
        (text, keys) => {
          const bytes = latin1(text);
          const { members } = skim(bytes);
          const edits = keys.map((k) => setMember(bytes, members, k, `{"set":"${k}"}`));
          const added = Object.fromEntries(keys.map((k) => [k, { set: k }]));
          const out = applyEdits(bytes, edits);
          // One object with members is needed to add several; an empty one takes one at a time.
          if (members.length > 0 || keys.length === 1) {
            expect(parseLatin1(out)).toEqual({ ...(JSON.parse(text) as Json), ...added });
          }
          for (const m of members) {
            if (!keys.includes(m.key)) expect(out.includes(bytes.slice(m.start, m.valueEnd))).toBe(true);
          }
        },
      ),
      { seed: 22, numRuns: 200 },
    );
  });

  test("edits in any order give the same, on text and on bytes", () => {
    const text = latin1('{"a":"é","b":[1,2],"c":{"d":"世"},"e":null}');
    const { members } = skim(text);
    const edits: Edit[] = [
      setMember(text, members, "e", "true"),
      ...removeMembers(members, ["b"]),
      setMember(text, members, "a", '"x"'),
      setMember(text, members, "z", "1"),
    ];
    const expected = { a: "x", c: { d: "世" }, e: true, z: 1 };
    for (const order of [edits, [...edits].reverse(), [edits[2], edits[0], edits[3], edits[1]] as Edit[]]) {
      const before = [...order];
      expect(parseLatin1(applyEdits(text, order))).toEqual(expected);
      expect(JSON.parse(Buffer.concat(editedParts(Buffer.from(text, "latin1"), order)).toString())).toEqual(
        expected,
      );
      expect(order).toEqual(before);
    }
  });

  test("on bytes, edit texts may hold any characters", () => {
    const bytes = Buffer.from('{"a":"世","b":1}');
    const { members } = skim(bytes.toString("latin1"));
    const edit = setMember("", members, "b", '"Größe 🎉"');
    expect(JSON.parse(Buffer.concat(editedParts(bytes, [edit])).toString())).toEqual({
      a: "世",
      b: "Größe 🎉",
    });
    expect(memberOf(members, "c")).toBeUndefined();
  });
});

describe("strings", () => {
  test("a quote closes a string when the backslashes before it are even in number", () => {
    for (let run = 0; run < 9; run++) {
      const text = `${"\\".repeat(run)}"" rest"`;
      expect(isClosing(text, run, 0)).toBe(run % 2 === 0);
      expect(closingQuote(text, 0)).toBe(run % 2 === 0 ? run : run + 1);
    }
    // Backslashes before the string's begin are not its own.
    expect(closingQuote('\\"', 1)).toBe(1);
    expect(() => closingQuote('no end \\"', 0)).toThrow(WeirError);
  });

  test("runs of a million backslashes or escaped quotes are read in time", () => {
    for (const part of ["\\\\", '\\"']) {
      const text = `{"a":"${part.repeat(1_000_000)}"}`;
      const took = processorMs(() => expect(skim(text).members[0]?.valueEnd).toBe(text.length - 1));
      expect(took).toBeLessThan(500);
    }
  });

  test("latin1Json and utf8Of undo what they do", () => {
    fc.assert(
      fc.property(words, (text) => {
        const json = latin1Json({ text });
        expect(json).toMatch(/^[\u0020-\u007f]*$/);
        expect(JSON.parse(json)).toEqual({ text });
        if (text.isWellFormed()) expect(utf8Of(latin1(text))).toBe(text);
      }),
      { seed: 31 },
    );
  });
});
