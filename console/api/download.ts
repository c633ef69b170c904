/**
 * Files of the API, saved by the browser. A link cannot say which org it is about, so they are asked for as every call is, and handed to the
 * browser as they came.
 */
import { headersOf, type Input, type Name, pathOf, sent } from "./call.ts";
import { ROUTES } from "./operations.ts";

/** Asks for a file. @param input as of `call` @throws as `call` */
export function download<N extends Name>(name: N, input: Input<N>, signal?: AbortSignal): Promise<Response> {
  const method = ROUTES[name][0];
  const headers = { ...headersOf(method), accept: "*/*" };
  return sent(pathOf(name, input as object), { method, headers, ...(signal !== undefined && { signal }) });
}

/** Has the browser save what a program has read. @param fileName where the answer names none */
export function save(content: Blob, fileName: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has begun to read the file by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The name that an answer gives to its file; undefined where it gives none. */
export const fileNameOf = (answer: Response): string | undefined =>
  /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1];
