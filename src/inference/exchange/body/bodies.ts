/**
 * Reads and writes bodies of wire formats, on the event loop if they are small, in a worker thread if they are large (T54),
 * and counts their tokens.
 */
import type { Dialect, Endpoint } from "../../../base/endpoint.ts";
import { during } from "../../../base/turns/long-work.ts";
import { type Countable, countable, countQuestion } from "../../../wire/count.ts";
import type { Billed } from "../../../wire/extras/sift.ts";
import type { ClientFormat, ClientRequest, OrgKey, Outgoing } from "../../../wire/format.ts";
import { type MediaAddress, mediaAddresses } from "../../../wire/media-addresses.ts";
import { LARGE_BODY_BYTES } from "../../../wire/neutral/contract.ts";
import type { Passable } from "../../../wire/passages.ts";
import {
  type AddressTask,
  fromThread,
  type QuestionTask,
  type ReadTask,
  type ThreadResult,
  type WriteTask,
} from "../../../wire/thread.ts";
import type { WorkerPool } from "../../../workers/pool.ts";
import type { WorkerThread } from "../../../workers/thread.ts";
import type { Encoding } from "../../../workers/tokenise.ts";

/**
 * Small bodies give a value, large ones a promise. Each method throws or rejects with a WeirError 400 if the body is at
 * fault.
 */
export interface Bodies {
  read(format: ClientFormat, body: Buffer): ClientRequest | Promise<ClientRequest>;
  /**
   * A splice that does not look at the body's bytes is written at once, whatever its size: it copies none.
   */
  write(
    format: ClientFormat,
    way: Passable,
    request: ClientRequest,
    endpoint: Endpoint,
    sender: Sender,
  ): Outgoing | Promise<Outgoing>;
  /** The media that must be fetched before the request can be written in the dialect. */
  addresses(
    format: ClientFormat,
    dialect: Dialect,
    request: ClientRequest,
  ): readonly MediaAddress[] | Promise<readonly MediaAddress[]>;
  /** The texts of a prompt that a tokenizer must count. */
  countable(format: ClientFormat, request: ClientRequest): Countable | Promise<Countable>;
  /** The request body for a provider's own count; undefined if it cannot be written. */
  question(
    format: ClientFormat,
    dialect: Dialect,
    request: ClientRequest,
    endpoint: Endpoint,
    orgId: string,
  ): Question | Promise<Question>;
  /** Tokens of texts in a public encoding, off the event loop. Rejects if too many counts wait. */
  countTexts(texts: Countable["texts"], encoding: Encoding): Promise<number>;
  /** Tokens of a prompt by the default encoding: an upper bound of its text. */
  countPrompt(format: ClientFormat, request: ClientRequest): Promise<number>;
}

export interface Sender {
  readonly orgId: string;
  /** Whose credential it will be sent with. */
  readonly billed: Billed;
}

export type Question = readonly Uint8Array[] | undefined;

/** The encoding for models whose own tokenizer is not public. */
export const DEFAULT_ENCODING: Encoding = "o200k_base";

/** Smaller ones are read too quickly to be looked for in a long turn. */
const NAMED_BYTES = 64 * 1024;

const isLarge = (bytes: Buffer): boolean => bytes.length > LARGE_BODY_BYTES;

/** Bodies up to this size are read and written on the event loop, however many values they have. */
const INLINE_BYTES = 16 * 1024;
/** Validation and translation take about a microsecond per value each, and several if the value is wrong. */
const INLINE_VALUES = 4000;
/** They begin a value: a comma the next one, a bracket the first inside. */
const COMMA = Buffer.from(",");
const BRACKETS = Buffer.from("[{");

/**
 * Whether a body has too many values to be read on the event loop. Signs inside texts count too; brackets by themselves, or the code
 * that agents send would count twice.
 */
const isDense = (bytes: Buffer): boolean =>
  bytes.length > INLINE_BYTES && (hasMany(COMMA, bytes) || hasMany(BRACKETS, bytes));

function hasMany(signs: Buffer, bytes: Buffer): boolean {
  let values = 0;
  for (const sign of signs) {
    // The search is native: a loop in JavaScript over 100 KB took longer than reading the body.
    for (let at = bytes.indexOf(sign); at >= 0; at = bytes.indexOf(sign, at + 1)) {
      if (++values > INLINE_VALUES) return true;
    }
  }
  return false;
}

/** Bodies that were read in the thread for their many values: they are written there, too. */
const dense = new WeakSet<Buffer>();

const belongsInThread = (bytes: Buffer): boolean =>
  bytes.length > INLINE_BYTES && (isLarge(bytes) || dense.has(bytes));

/** Documents of text are decoded when they are written. */
function hasMuchFetched({ fetched }: ClientRequest): boolean {
  if (fetched === undefined) return false;
  let bytes = 0;
  for (const { base64 } of fetched) bytes += base64.length;
  return bytes > LARGE_BODY_BYTES;
}

export interface OrgSecrets {
  /** By it values that an upstream would refuse are replaced. The same in every process and after a restart. */
  orgSecret(orgId: string): OrgKey;
}

/** @param thread runs the functions of `wire/thread.ts` */
export function openBodies(thread: WorkerThread, pool: WorkerPool, { orgSecret }: OrgSecrets): Bodies {
  const inThread = async <T>(name: string, task: object): Promise<T> =>
    fromThread((await thread.run(name, task)) as ThreadResult<T>);
  const countTexts = async (texts: Countable["texts"], encoding: Encoding): Promise<number> => {
    const counts = await pool.countTokens(texts, encoding);
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return {
    read(format, bytes) {
      if (!isLarge(bytes)) {
        if (!isDense(bytes))
          return bytes.length < NAMED_BYTES ? format.read(bytes) : during("body", () => format.read(bytes));
        dense.add(bytes);
      }
      const task: ReadTask = { format: format.key, bytes };
      return inThread<Omit<ClientRequest, "bytes">>("readInThread", task).then((read) => ({
        bytes,
        ...read,
      }));
    },
    write(format, { passage, dialect, isSplice }, request, endpoint, { orgId, billed }) {
      const orgKey = orgSecret(orgId);
      const isSought = request.extras.asks.length > 0 || passage.looksThrough?.(request, endpoint) === true;
      if ((isSplice && !isSought) || !(belongsInThread(request.bytes) || hasMuchFetched(request)))
        return passage.write(request, endpoint, billed, orgKey);
      const task: WriteTask = { format: format.key, dialect, request, endpoint, billed, orgKey };
      return inThread<Outgoing>("writeInThread", task);
    },
    addresses(format, dialect, request) {
      if (!belongsInThread(request.bytes)) return mediaAddresses(format, dialect, request);
      const task: AddressTask = { format: format.key, dialect, request };
      return inThread<readonly MediaAddress[]>("addressesInThread", task);
    },
    countable(format, request) {
      if (!belongsInThread(request.bytes)) return countable(format, request);
      return inThread<Countable>("countableInThread", { format: format.key, request });
    },
    question(format, dialect, request, endpoint, orgId) {
      const orgKey = orgSecret(orgId);
      if (!belongsInThread(request.bytes)) return countQuestion(format, dialect, request, endpoint, orgKey);
      const task: QuestionTask = { format: format.key, dialect, request, endpoint, orgKey };
      return inThread<Question>("questionInThread", task);
    },
    countTexts,
    countPrompt: (format, request) => countTexts(format.promptTexts(request), DEFAULT_ENCODING),
  };
}
