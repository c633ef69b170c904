/**
 * The API reference: the OpenAPI document and the page made from it. Each is made once a process, some time
 * after the start, in steps of a route each, between which calls are served: all at once they kept every call waiting for
 * as long as it took. Who asks earlier waits until they are there.
 */
import { nextTurn } from "../../base/clock.ts";
import { Once } from "../../base/once.ts";
import type { OpenApiDocument } from "./openapi-types.ts";

export interface ReferenceParts {
  /** Yields after each step. @param address a placeholder for the gateway's own address */
  document(address: string): Generator<unknown, OpenApiDocument>;
  /** Pieces of the page. */
  page(document: OpenApiDocument): Iterable<string>;
}

export interface Reference {
  /** Makes all that is not made yet. Never rejects: a failure is told to who asks. */
  prepare(): Promise<void>;
  /** JSON. @param address the gateway's own, as the reader used it; empty where that is unknown: links are relative then */
  openApi(address: string): Promise<string>;
  /** HTML. @param address as above */
  docs(address: string): Promise<string>;
}

/** Placeholder for the gateway's own address. It occurs in no other text. */
const ADDRESS = "https://address.of.this.gateway.invalid";
const servedAt = (text: string, address: string): string => text.replaceAll(ADDRESS, address || "/");

export function openReference(parts: ReferenceParts): Reference {
  const document = new Once(() => inTurns(parts.document(ADDRESS)));
  const openApi = new Once(async () => joined(jsonPieces(await document.get())));
  const docs = new Once(async () => joined(parts.page(await document.get())));
  return {
    async prepare() {
      for (const make of [openApi, docs]) await make.get().catch(() => undefined);
    },
    openApi: async (address) => servedAt(await openApi.get(), address),
    docs: async (address) => servedAt(await docs.get(), address),
  };
}

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
