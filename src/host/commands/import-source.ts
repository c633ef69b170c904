/** Reads the JSON that an import names, from a file or by http(s): bounded in bytes and time. */
import { open } from "node:fs/promises";
import { boundedBody } from "../../base/bounded-body.ts";
import { jsonIn } from "../../base/json.ts";
import { nextPage } from "../../catalog/import/openrouter.ts";

export interface SourceBounds {
  readonly maxBytes: number;
  /** For all pages together. */
  readonly withinMs: number;
}

const BOUNDS: SourceBounds = { maxBytes: 32 * 1024 * 1024, withinMs: 60_000 };
const MOST_PAGES = 50;

/** The document; of a paged answer each page. @throws Error with a line for the operator */
export async function readPages(source: string, bounds: SourceBounds = BOUNDS): Promise<unknown[]> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const json = jsonOf(await readBounded(source, bounds), source);
    if (nextPage(json) !== undefined)
      throw new Error(`${source} is the first of several pages: give its URL`);
    return [json];
  }
  if (scheme !== "http" && scheme !== "https")
    throw new Error(`${scheme} is not read: give a file or an http(s) URL`);
  const signal = AbortSignal.timeout(bounds.withinMs);
  const pages: unknown[] = [];
  let leftBytes = bounds.maxBytes;
  for (let url: URL | undefined = new URL(source); url !== undefined; ) {
    if (pages.length === MOST_PAGES) throw new Error(`the answer has more than ${MOST_PAGES} pages`);
    const text = await fetched(url, leftBytes, signal);
    leftBytes -= text.length;
    const json = jsonOf(text, url.origin);
    pages.push(json);
    const next = nextPage(json);
    const from: URL = url;
    url = next === undefined ? undefined : new URL(next, from);
    if (url !== undefined && url.origin !== from.origin)
      throw new Error("the next page is at another address");
  }
  return pages;
}

async function fetched(url: URL, maxBytes: number, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, { signal, headers: { accept: "application/json" } }).catch(
    (error: unknown) => {
      const { cause, name } = error as Error;
      const reason = name === "TimeoutError" ? "it took too long" : (cause as Error | undefined)?.message;
      throw new Error(`${url.origin} cannot be read: ${reason ?? "no answer"}`, { cause: error });
    },
  );
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`${url.origin}${url.pathname} answers ${answer.status}`);
  }
  const tooLong = () => new Error(`${url.origin} sends more than ${maxBytes} bytes`);
  try {
    return (await boundedBody(answer.body, maxBytes, tooLong)).toString("utf8");
  } catch (error) {
    if ((error as Error).name === "TimeoutError")
      throw new Error(`${url.origin} cannot be read: it took too long`);
    throw error;
  }
}

async function readBounded(path: string, { maxBytes }: SourceBounds): Promise<string> {
  const file = await open(path).catch((error: unknown) => {
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  });
  try {
    const tooLong = () => new Error(`${path} is longer than ${maxBytes} bytes`);
    return (await boundedBody(file.createReadStream({ autoClose: false }), maxBytes, tooLong)).toString(
      "utf8",
    );
  } finally {
    await file.close();
  }
}

function jsonOf(text: string, source: string): unknown {
  const value = jsonIn(text);
  if (value === undefined) throw new Error(`${source} is no JSON`);
  return value;
}
