/**
 * Reading a large request in a worker thread: a prompt of a million tokens would hold up every other call for tens of
 * milliseconds (T54). `readInThread` runs there; `fromThread` makes of its result what `readChatRequest` would give.
 */
import { type ErrorExtras, type ErrorName, fail, WeirError } from "../../errors.ts";
import { type ChatRequest, readChatRequest } from "./request.ts";

/** Plain values only: they cross from one thread to the other. */
export type ThreadResult =
  | { readonly read: Omit<ChatRequest, "bytes"> }
  | {
      readonly refused: { readonly kind: ErrorName; readonly message: string; readonly extras: ErrorExtras };
    };

/** @param bytes of memory that both threads share, or a copy. */
export function readInThread(bytes: Uint8Array): ThreadResult {
  try {
    const { bytes: _, ...read } = readChatRequest(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    );
    return { read };
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    const { kind, message, param, details } = error;
    const extras = { ...(param !== undefined && { param }), ...(details !== undefined && { details }) };
    return { refused: { kind, message, extras } };
  }
}

/** @throws WeirError as {@link readChatRequest} does. */
export function fromThread(bytes: Buffer, result: ThreadResult): ChatRequest {
  if ("read" in result) return { bytes, ...result.read };
  const { kind, message, extras } = result.refused;
  throw fail(kind, message, extras);
}
