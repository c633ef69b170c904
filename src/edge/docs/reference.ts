/**
 * The API reference: the OpenAPI document and the pages made from it. Each is made once a process, some time
 * after the start, in steps of a route each, between which calls are served: all at once they kept every call waiting for
 * as long as it took. Who asks earlier waits until they are there. They are kept compressed, and the document as an object is not: few
 * ask, and together they would be a tenth of what is alive in the process.
 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { nextTurn } from "../../base/clock.ts";
import { Once } from "../../base/once.ts";
import type { OpenApiDocument } from "../openapi/openapi-types.ts";

export interface ReferenceParts {
  /** Yields after each step. @param address a placeholder for the gateway's own address */
  document(address: string): Generator<unknown, OpenApiDocument>;
  /** Pieces of the pages, by name. */
  readonly pages: ReadonlyMap<string, (document: OpenApiDocument) => Iterable<string>>;
}

export interface Reference {
  /** Makes all that is not made yet. Never rejects: a failure is told to who asks. */
  prepare(): Promise<void>;
  /** JSON. @param address the gateway's own, as the reader used it; empty where that is unknown: links are relative then */
  openApi(address: string): Promise<string>;
  /** A page by its name, undefined where there is none. @param address as above */
  page(name: string, address: string): Promise<string | undefined>;
}

/** Placeholder for the gateway's own address. It occurs in no other text. */
const ADDRESS = "https://address.of.this.gateway.invalid";
const servedAt = (text: string, address: string): string => text.replaceAll(ADDRESS, address || "/");

export function openReference(parts: ReferenceParts): Reference {
  let document: Once<OpenApiDocument> | undefined;
  /** All are made of one document, which is let go then. */
  const text = async (pieces: (document: OpenApiDocument) => Iterable<string>): Promise<string> => {
    document ??= new Once(() => inTurns(parts.document(ADDRESS)));
    return await joined(pieces(await document.get()));
  };
  const openApi = new CompressedText(() => text(jsonPieces));
  const pages = new Map(
    [...parts.pages].map(([name, pieces]) => [name, new CompressedText(() => text(pieces))] as const),
  );
  const all = [openApi, ...pages.values()];
  const served = async (from: CompressedText, address: string): Promise<string> => {
    const whole = await from.get();
    if (all.every(({ isAsked }) => isAsked)) document = undefined;
    return servedAt(whole, address);
  };
  return {
    async prepare() {
      for (const made of all) await made.prepare().catch(() => undefined);
      document = undefined;
    },
    openApi: (address) => served(openApi, address),
    async page(name, address) {
      const page = pages.get(name);
      return page && (await served(page, address));
    },
  };
}

/** A text that is made once and kept compressed. All who ask at a time share one decompression: a flood takes one thread, not all. */
class CompressedText {
  readonly #bytes: Once<Buffer>;
  #reading: Promise<string> | undefined;

  constructor(make: () => Promise<string>) {
    this.#bytes = new Once(async () => await compressed(await make()));
  }

  /** Whether it is made, or being made. */
  get isAsked(): boolean {
    return this.#bytes.made !== undefined;
  }

  async prepare(): Promise<void> {
    await this.#bytes.get();
  }

  get(): Promise<string> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<string> {
    return (await decompressed(await this.#bytes.get())).toString();
  }
}

const compressed: (text: string) => Promise<Buffer> = promisify(gzip);
const decompressed = promisify<Buffer, Buffer>(gunzip);

async function inTurns<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value as T;
    await nextTurn();
  }
}

async function joined(pieces: Iterable<string>): Promise<string> {
  const all: string[] = [];
  for (const piece of pieces) {
    all.push(piece);
    await nextTurn();
  }
  return all.join("");
}

/** The text that `JSON.stringify` makes, member by member of the long objects. */
function* jsonPieces(document: OpenApiDocument): Generator<string> {
  let before = "{";
  for (const [name, value] of Object.entries(document)) {
    yield `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (name === "paths" || name === "webhooks") yield* members(value as object);
    else yield JSON.stringify(value);
  }
  yield "}";
}

function* members(of: object): Generator<string> {
  let before = "{";
  for (const [name, value] of Object.entries(of)) {
    yield `${before}${JSON.stringify(name)}:${JSON.stringify(value)}`;
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}
