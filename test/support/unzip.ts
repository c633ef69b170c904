/** Reads a zip that tests made: PKWARE's APPNOTE, sections 4.3.12 (central directory) and 4.3.16 (its end). No ZIP64. */
import { inflateRawSync } from "node:zlib";

/** The files of the archive by name. */
export function unzipped(zip: Buffer): Map<string, string> {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  const files = new Map<string, string>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, bytes] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const local = zip.readUInt32LE(at + 42);
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(from, from + bytes);
    const text = method === 0 ? data : inflateRawSync(data);
    files.set(zip.toString("utf8", at + 46, at + 46 + name), text.toString("utf8"));
    at += 46 + name + extra + comment;
  }
  return files;
}
