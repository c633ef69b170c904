/** Keys, rows and sums that the store writes itself are those of the packages that read them. */
import { crc32 } from "node:zlib";
import fc from "fast-check";
import * as lmdb from "lmdb";
import { pack, unpack } from "msgpackr";
import { describe, expect, test } from "vitest";
import { packChecked, unpackChecked } from "../../../../src/store/lmdb/checked.ts";
import { quickKeys, type WriteKey } from "../../../../src/store/lmdb/key-bytes.ts";
import { crcOfText, crcOfView } from "../../../../src/store/short-crc.ts";
import { keyText } from "../../../../src/store/tables/table.ts";

/** The types of the package do not have it. */
const { keyValueToBuffer } = lmdb as unknown as { keyValueToBuffer(key: lmdb.Key): Uint8Array };

const text = fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: "binary", maxLength: 20 }));
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.constantFrom(0, -0, 2 ** 32, -(2 ** 31) - 1),
);
const parts = fc.array(fc.oneof(text, number), { maxLength: 17 });

const checkedByHand = (key: string, packed: Uint8Array): Buffer => {
  const head = Buffer.alloc(5);
  head[0] = 0xc1;
  head.writeUInt32LE(crc32(packed, crc32(key)), 1);
  return Buffer.concat([head, packed]);
};

test("a list is stored as msgpackr packs it, with the sum of zlib", () => {
  fc.assert(
    fc.property(parts, text, (list, key) => {
      const row = packChecked(key, list);
      expect(Buffer.from(row)).toEqual(checkedByHand(key, pack(list)));
      expect(unpackChecked("t", key, row)).toEqual(unpack(pack(list)));
      const versioned = packChecked(key, list, 3);
      expect(Buffer.from(versioned)).toEqual(
        checkedByHand(key, Buffer.concat([Buffer.from([0xc1, 3]), pack(list)])),
      );
    }),
  );
});

test("rows stay as they were written, however many follow", () => {
  const rows = Array.from({ length: 5000 }, (_, i) =>
    packChecked(`k${i}`, [i, `text ${i}`, -1 - i, i * 1e9]),
  );
  for (const [i, row] of rows.entries())
    expect(unpackChecked("t", `k${i}`, row)).toEqual([i, `text ${i}`, -1 - i, i * 1e9]);
});

test("a short sum is zlib's", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      text,
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (bytes, name, seed) => {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        expect(crcOfView(view, 0, bytes.length, seed)).toBe(crc32(bytes, seed));
        expect(crcOfText(name)).toBe(crc32(name));
      },
    ),
  );
});

test("a key's text is its JSON", () => {
  fc.assert(
    fc.property(text, number, (first, second) => {
      const key = keyText([first, second]);
      expect(key).toBe(JSON.stringify([first, second]));
      expect(crcOfText(key)).toBe(crc32(key));
    }),
  );
});

describe("a key's bytes", () => {
  const part = fc.oneof(text, fc.stringMatching(/^[\w~-]{0,70}$/), number);
  const key = fc.oneof(fc.tuple(part, part), fc.tuple(part, part, part), fc.tuple(part), text, number);
  const room = (): Uint8Array & { dataView: DataView } => {
    const bytes = new Uint8Array(2048).fill(0xff);
    return Object.assign(bytes, { dataView: new DataView(bytes.buffer) });
  };

  test("are those of the package", () => {
    const others: WriteKey = (of, target, position) => {
      const bytes = keyValueToBuffer(of as lmdb.Key);
      target.set(bytes, position);
      target.fill(0, position + bytes.length, position + bytes.length + 4);
      return position + bytes.length;
    };
    const writeKey = quickKeys(others);
    fc.assert(
      fc.property(key, fc.nat(40), (one, position) => {
        const target = room();
        const end = writeKey(one as lmdb.Key, target, position);
        expect(Buffer.from(target.subarray(position, end))).toEqual(keyValueToBuffer(one as lmdb.Key));
        expect([...target.subarray(end, end + 4)]).toEqual([0, 0, 0, 0]);
      }),
    );
  });

  test("of usual keys are not left to the package", () => {
    const writeKey = quickKeys(() => {
      throw new Error("left to the package");
    });
    expect(writeKey(["org_01JZ", 4711], room(), 8)).toBe(8 + 8 + 1 + 9);
    expect(writeKey(["prj_01", "key_02"], room(), 8)).toBe(8 + 6 + 1 + 6);
  });
});
