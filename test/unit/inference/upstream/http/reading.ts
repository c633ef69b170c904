/** Reads an answer with the parser alone, in given pieces, as a connection would. */
import { ProtocolError } from "../../../../../src/inference/upstream/http/errors.ts";
import {
  type ParserSink,
  ResponseParser,
} from "../../../../../src/inference/upstream/http/response-parser.ts";

/** Behind what was read last there are always bytes of earlier reads, which must not be looked at. */
const STALE = Buffer.from("\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n5\r\n".repeat(2));

/**
 * What becomes of it, in short: the status, the headers if it has any, the body in quotes, then `end`, `last` (its end, and that
 * of the connection), the code of an error, or `...` if more is to come.
 */
export function outcomeOf(pieces: readonly string[], isClosed = false): string {
  const told: string[] = [];
  let body = "";
  const sink: ParserSink = {
    onHead(status, headers) {
      told.push(String(status));
      for (const [name, value] of Object.entries(headers))
        if (value !== undefined) told.push(`${name}=${value}`);
    },
    onData(bytes, start, end) {
      body += bytes.toString("latin1", start, end);
    },
    onEnd(isLast) {
      ended = isLast ? "last" : "end";
    },
  };
  let ended = "";
  const parser = new ResponseParser(sink);
  parser.begin();
  const memory = Buffer.alloc(Math.max(...pieces.map((piece) => piece.length), 0) + STALE.length);
  try {
    for (const piece of pieces) {
      // A connection that gets more than its answer is closed.
      if (ended !== "") ended = "last";
      memory.write(piece, "latin1");
      STALE.copy(memory, piece.length);
      parser.push(memory, piece.length);
      memory.fill("?");
    }
    if (isClosed && ended === "" && !parser.finish()) ended = "closed";
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    ended = error.code;
  }
  if (body !== "") told.push(JSON.stringify(body));
  return [...told, ended || "..."].join(" ");
}

/** Every way to cut it in two, not cut, and byte by byte. */
export function* cutsOf(text: string, places = text.length): Generator<readonly string[]> {
  yield [text];
  yield [...text];
  for (let at = Math.max(1, text.length - places); at < text.length; at += 1) {
    yield [text.slice(0, at), text.slice(at)];
  }
}
