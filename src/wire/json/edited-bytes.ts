/** Edits of JSON that is bytes. Edits must not overlap. */
import { type Edit, inOrder } from "./json.ts";

/** The parts of the edited text in order, without a copy. Edit texts may contain any character. */
export function editedParts(bytes: Buffer, edits: readonly Edit[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const edit of inOrder(edits)) {
    parts.push(bytes.subarray(from, edit.start), Buffer.from(edit.text));
    from = edit.end;
  }
  parts.push(bytes.subarray(from));
  return parts;
}

type Encoding = "utf8" | "latin1";

/** Up to so many bytes, one after the other costs less than a call of Node's. */
const FEW_BYTES = 48;
/** The same of characters, of which each costs as much as three bytes. */
const FEW = 16;

/**
 * The same in one buffer: for a small body one copy costs less than many parts.
 * @param encoding of the texts of the edits
 */
export function editedBytes(bytes: Buffer, edits: readonly Edit[], encoding: Encoding = "utf8"): Buffer {
  const ordered = inOrder(edits);
  let length = bytes.length;
  for (const { start, end, text } of ordered)
    length += (encoding === "latin1" ? text.length : utf8Length(text)) - (end - start);
  const out = Buffer.allocUnsafe(length);
  let from = 0;
  let at = 0;
  for (const { start, end, text } of ordered) {
    at = copied(bytes, from, start, out, at);
    at = written(text, encoding, out, at);
    from = end;
  }
  copied(bytes, from, bytes.length, out, at);
  return out;
}

/** @returns the offset behind what was copied */
function copied(bytes: Buffer, from: number, to: number, out: Buffer, at: number): number {
  const length = to - from;
  if (length > FEW_BYTES) bytes.copy(out, at, from, to);
  else for (let i = 0; i < length; i++) out[at + i] = bytes[from + i] as number;
  return at + length;
}

/** @returns the offset behind the text */
function written(text: string, encoding: Encoding, out: Buffer, at: number): number {
  const { length } = text;
  if (length > FEW) return at + out.write(text, at, encoding);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127 && encoding === "utf8") return at + out.write(text, at, encoding);
    out[at + i] = code;
  }
  return at + length;
}

function utf8Length(text: string): number {
  const { length } = text;
  if (length > FEW) return Buffer.byteLength(text);
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) > 127) return Buffer.byteLength(text);
  return length;
}
