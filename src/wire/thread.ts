/**
 * Reading, translating and laying out large bodies in a worker thread: a prompt of a million tokens would hold up every
 * other call for tens of milliseconds (T54). What ends in `InThread` runs there; `fromThread` takes its result out again.
 */
import type { Dialect, Endpoint } from "../base/endpoint.ts";
import { type ErrorExtras, type ErrorName, fail, WeirError } from "../base/errors.ts";
import { counted, sharedConcat } from "../base/shared-memory.ts";
import { type Canonical, canonicalRequest } from "./canonical.ts";
import { type Countable, countable, countQuestion } from "./count.ts";
import type { Billed } from "./extras/sift.ts";
import type { ClientRequest, FormatKey, FormatName, OrgKey, Outgoing } from "./format.ts";
import { formatOf } from "./formats.ts";
import { type MediaAddress, mediaAddresses } from "./media-addresses.ts";
import { passageTo } from "./passages.ts";

/** Plain values only: they cross from one thread to the other. */
export type ThreadResult<T> =
  | { readonly value: T }
  | {
      readonly refused: { readonly kind: ErrorName; readonly message: string; readonly extras: ErrorExtras };
    };

export interface ReadTask {
  readonly format: FormatKey;
  /** A view of memory that both threads share, or a copy. */
  readonly bytes: Uint8Array;
}

export const readInThread = ({ format, bytes }: ReadTask): ThreadResult<Omit<ClientRequest, "bytes">> =>
  caught(() => {
    const { bytes: _, ...read } = formatOf(format).read(viewOf(bytes));
    return read;
  });

export interface CountTask {
  readonly format: FormatKey;
  readonly request: ClientRequest;
}

export interface QuestionTask extends CountTask {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
  readonly orgKey: OrgKey;
}

export interface WriteTask extends QuestionTask {
  readonly billed: Billed;
}

export const writeInThread = (task: WriteTask): ThreadResult<Outgoing> =>
  caught(() => {
    const { format, dialect, request, endpoint, billed, orgKey } = task;
    const way = passageTo(formatOf(format), { ...endpoint, dialects: [dialect] });
    if (way === undefined) throw new Error(`no passage from ${format} to ${dialect}`);
    return crossing(way.passage.write(viewed(request), endpoint, billed, orgKey));
  });

/** More of them would keep the event loop while they cross, each by itself: a body of megabytes may have hundreds of thousands. */
const MOST_PARTS = 1000;
const MOST_DROPPED = 1000;

function crossing(outgoing: Outgoing): Outgoing {
  const { parts, dropped } = outgoing;
  return {
    ...outgoing,
    parts: parts.length > MOST_PARTS ? [sharedConcat(parts)] : parts,
    ...(dropped.length > MOST_DROPPED && {
      dropped: dropped.slice(0, MOST_DROPPED),
      droppedMore: dropped.length - MOST_DROPPED,
    }),
  };
}

/** Its texts are one run in shared memory: as strings they would be copied twice on the event loop. */
export const countableInThread = ({ format, request }: CountTask): ThreadResult<Countable> =>
  caught(() => {
    const { texts, ...read } = countable(formatOf(format), { ...request, bytes: viewOf(request.bytes) });
    return { ...read, texts: [runOf(texts)] };
  });

/** Stands behind each text of a run: no byte of UTF-8. */
const TEXT_END = Buffer.of(0xff);

const runOf = (texts: Countable["texts"]): Uint8Array =>
  sharedConcat(texts.flatMap((text) => [typeof text === "string" ? Buffer.from(text) : text, TEXT_END]));

export const questionInThread = (task: QuestionTask): ThreadResult<readonly Uint8Array[] | undefined> =>
  caught(() => {
    const { format, dialect, request, endpoint, orgKey } = task;
    const whole = { ...request, bytes: viewOf(request.bytes) };
    return countQuestion(formatOf(format), dialect, whole, endpoint, orgKey);
  });

export interface CanonicalTask extends ReadTask {
  readonly format: FormatName;
}

export const canonicalInThread = ({ format, bytes }: CanonicalTask): ThreadResult<Canonical> =>
  caught(() => canonicalRequest(format, bytes));

/** @throws WeirError as the function in the thread did. */
export function fromThread<T>(result: ThreadResult<T>): T {
  if ("value" in result) return result.value;
  const { kind, message, extras } = result.refused;
  throw fail(kind, message, extras);
}

/** A request that came from another thread. */
function viewed(request: ClientRequest): ClientRequest {
  for (const { base64 } of request.fetched ?? []) counted(base64);
  return { ...request, bytes: viewOf(request.bytes) };
}

export interface AddressTask extends CountTask {
  readonly dialect: Dialect;
}

export const addressesInThread = (task: AddressTask): ThreadResult<readonly MediaAddress[]> =>
  caught(() => mediaAddresses(formatOf(task.format), task.dialect, viewed(task.request)));

const viewOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(counted(bytes).buffer, bytes.byteOffset, bytes.byteLength);

function caught<T>(act: () => T): ThreadResult<T> {
  try {
    return { value: act() };
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    const { kind, message, param, details } = error;
    const extras = { ...(param !== undefined && { param }), ...(details !== undefined && { details }) };
    return { refused: { kind, message, extras } };
  }
}
