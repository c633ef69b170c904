/** The usual head is read in one pass: it says what the reader of all heads says, or nothing. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { readHead } from "../../../../../src/inference/upstream/http/answer-head.ts";
import { usualHead } from "../../../../../src/inference/upstream/http/usual-head.ts";

const line = fc.constantFrom(
  "content-type: application/json",
  "Content-Type:text/event-stream; charset=utf-8 \t",
  "content-length: 12",
  "Content-Length:0",
  "content-length: 1x",
  "content-length: ",
  "transfer-encoding: chunked",
  "Transfer-Encoding: Chunked",
  "transfer-encoding: gzip, chunked",
  "connection: keep-alive",
  "Connection: close",
  "Keep-Alive: timeout=5, max=100",
  "content-encoding: gzip",
  "retry-after: 1",
  "x-request-id: req_1",
  "date: Sun, 29 Nov 2026 10:00:00 GMT",
  "server: größer",
  "x-é: 1",
  "a b: 1",
  "no colon",
  ": none",
  "x: \u0001",
  "x: a\nb",
  " folded: 1",
  "x:",
);
const first = fc.oneof(
  { weight: 9, arbitrary: fc.constant("HTTP/1.1 200 OK") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "HTTP/1.0 200 OK",
      "HTTP/1.1 200",
      "HTTP/1.1 201 Created",
      "HTTP/1.1 100 Continue",
    ),
  },
);

function read(text: string) {
  try {
    return readHead(text);
  } catch {
    return "refused";
  }
}

it("says what the reader of all heads says, or nothing", () => {
  let found = 0;
  fc.assert(
    fc.property(
      first,
      fc.array(line, { maxLength: 4 }),
      fc.constantFrom("", "body"),
      (start, lines, body) => {
        const head = [start, ...lines].join("\r\n");
        const bytes = Buffer.from(`${head}\r\n\r\n${body}`, "latin1");
        const usual = usualHead(bytes, bytes.length);
        if (usual === undefined) return;
        found++;
        const { end, ...said } = usual;
        expect(end).toBe(head.length + 4);
        expect(said).toEqual(read(head));
      },
    ),
    { numRuns: 5_000 },
  );
  expect(found).toBeGreaterThan(300);
});

it("says nothing of a head that has not arrived in full", () => {
  const bytes = Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n");
  for (let end = 0; end < bytes.length; end++) expect(usualHead(bytes, end)).toBeUndefined();
  expect(usualHead(bytes, bytes.length)).toMatchObject({ status: 200, body: 2, end: bytes.length });
});
