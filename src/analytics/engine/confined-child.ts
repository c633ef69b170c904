/**
 * The analysts' process: runs their statements in a second engine, whose files are in the working folder, over the tables of the first
 * one, which it sees read-only. It takes statements by HTTP on a socket file in that folder, from the engine's process alone, which
 * has checked who asks. It knows no password. `confined-process.ts` starts it.
 */
import { mkdirSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createServer } from "../../base/network/node-http.ts";
import { yieldToGateway } from "../../base/process/yielding.ts";
import { asEngineError } from "../statements/engine-error.ts";
import { type AnalystRun, openAnalystRun } from "./analyst-run.ts";
import { FORMAT_HEADER, READY, SOCKET, type WireError, type WireStatement } from "./confined-wire.ts";

/** Gateway, engine and inserts come first where the processor is short. */
const NICENESS = 10;
const ENGINE = "engine";

async function main(records: string): Promise<void> {
  yieldToGateway(NICENESS);
  // The engine's process holds the other end, and never writes: the end means that it has ended.
  process.stdin.resume().once("end", () => process.exit(0));
  for (const name of [ENGINE, SOCKET]) rmSync(name, { recursive: true, force: true });
  mkdirSync(ENGINE, { mode: 0o700 });
  const run = await openAnalystRun(join(process.cwd(), ENGINE), records);
  const server = createServer((request, response) => {
    answer(run, request, response).catch((error: unknown) => refuse(response, error));
  });
  server.requestTimeout = 0;
  server.listen(SOCKET, () => process.stdout.write(`${READY}\n`));
}

async function answer(run: AnalystRun, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const given = JSON.parse(Buffer.concat(parts).toString()) as WireStatement;
  const { format, chunks } = await run({ ...given, settings: new Map(given.settings) });
  response.setHeader(FORMAT_HEADER, format);
  await pipeline(Readable.from(chunks, { objectMode: false }), response);
}

function refuse(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { code, message } = asEngineError(thrown);
  response.statusCode = 400;
  response.end(JSON.stringify({ code, message } satisfies WireError));
}

await main(process.argv[2] ?? "");
