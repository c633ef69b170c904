/**
 * ClickHouse's HTTP interface, as far as its clients, BI tools and curl use it: statements by URL or body, data by body
 * (gzip allowed), settings and `param_x` in the URL, credentials by basic auth, headers or URL.
 * Format: https://clickhouse.com/docs/interfaces/http
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { createServer } from "../../base/network/node-http.ts";
import { ANALYST_SECONDS } from "../statements/analyst-settings.ts";
import { asEngineError, exception } from "../statements/engine-error.ts";
import { type CatchUp, OWN_HEADER } from "./catch-up.ts";
import type { ConfinedProcess } from "./confined-process.ts";
import { type Analysts, analystStatement, type Credentials, credentialsOf } from "./engine-analysts.ts";
import type { EngineRunner, Result, Statement } from "./engine-run.ts";
import { Gate } from "./gate.ts";

/** Statements that run at once; further ones wait. Each uses a thread of the pool, of 16, while it runs. */
const CONCURRENT = 10;
/** The same for INSERTs, in places of their own: however many questions are asked, records go on being stored. */
const INSERTS = 4;
const WAITING = 200;
/** Most bytes of a statement's text; the data of an INSERT is not limited. */
const MAX_SQL_BYTES = 16 * 1024 * 1024;

/** URL parameters of the interface that are not settings. */
const RESERVED = new Set([
  "query",
  "database",
  "default_format",
  "query_id",
  "user",
  "password",
  "compress",
  "decompress",
  "enable_http_compression",
  "http_zlib_compression_level",
  "wait_end_of_query",
  "buffer_size",
  "add_http_cors_header",
  "client_protocol_version",
  "send_progress_in_http_headers",
  "http_headers_progress_interval_ms",
  "stacktrace",
  "quota_key",
]);

/** For how long an analyst's answer may keep its place, which other analysts wait for. */
export interface AnswerLimits {
  /** Without a byte that the client takes. Longer than a statement may be silent. */
  readonly stalledMs: number;
  readonly wholeMs: number;
}
const ANSWER_LIMITS: AnswerLimits = { stalledMs: (ANALYST_SECONDS + 30) * 1000, wholeMs: 600_000 };

export interface GatewayAccess {
  readonly user: string;
  readonly password: string;
  /** Waited for before each question that is not the gateway's own. */
  readonly catchUp: Pick<CatchUp, "wait">;
}

/** @param confined runs analysts' statements, in a process of its own */
export function engineServer(
  runner: EngineRunner,
  gateway: GatewayAccess,
  analysts: Analysts,
  confined: Pick<ConfinedProcess, "run">,
  limits = ANSWER_LIMITS,
): Server {
  const gates = { questions: new Gate(CONCURRENT, WAITING), inserts: new Gate(INSERTS, WAITING) };
  const running = new Set<string>();
  const server = createServer((request, response) => {
    const context = { runner, gateway, gates, running, analysts, confined, limits };
    answer(request, response, context).catch((error: unknown) => refuse(response, error));
  });
  // Longer than clients keep an idle socket, so that a socket is never closed while a request is being sent.
  server.keepAliveTimeout = 65_000;
  server.requestTimeout = 0;
  return server;
}

interface ServerContext {
  readonly runner: EngineRunner;
  readonly gates: { readonly questions: Gate; readonly inserts: Gate };
  /** Ids of statements without an answer yet, including those whose client no longer waits. */
  readonly running: Set<string>;
  readonly gateway: GatewayAccess;
  readonly analysts: Analysts;
  readonly confined: Pick<ConfinedProcess, "run">;
  readonly limits: AnswerLimits;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { runner, gateway, gates, running, analysts, confined, limits }: ServerContext,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://engine");
  response.setHeader("X-ClickHouse-Server-Display-Name", "weir");
  response.setHeader("X-ClickHouse-Timezone", "UTC");
  if (url.pathname === "/ping" || (url.pathname === "/" && request.method === "GET" && url.search === "")) {
    response.setHeader("Content-Type", "text/plain");
    response.end("Ok.\n");
    return;
  }
  const given = credentialsOf(request, url);
  const analyst = analysts.find(given);
  if (analyst === undefined) checkCredentials(given, gateway.user, gateway.password);
  for (const name of ["compress", "decompress"]) {
    // A client that asks would take plain bytes for damaged ones.
    if (["1", "true"].includes(url.searchParams.get(name) ?? "")) {
      const message = `the embedded engine does not compress as ClickHouse does: set ${name}=0`;
      throw exception(48, message);
    }
  }
  if (request.method !== "GET" && request.method !== "POST") {
    throw exception(48, "GET or POST");
  }
  if (analyst !== undefined) {
    const statement = await analystStatement(request, url, analyst);
    await analysts.run(analyst, async () => {
      await gateway.catchUp.wait();
      await sendWithin(response, await confined.run(statement), limits);
    });
    return;
  }
  const statement = await readStatement(request, url);
  const queryId = url.searchParams.get("query_id") ?? "";
  if (/^[\w.:-]+$/.test(queryId)) response.setHeader("X-ClickHouse-Query-Id", queryId);
  if (queryId !== "" && running.has(queryId)) {
    throw exception(216, `Query with id = ${queryId} is already running.`);
  }
  running.add(queryId);
  try {
    const isInsert = INSERT.test(statement.sql);
    // By a tool of the operator's, with the gateway's password.
    if (!isInsert && request.headers[OWN_HEADER] === undefined) await gateway.catchUp.wait();
    const gate = isInsert ? gates.inserts : gates.questions;
    await gate.run(async () => send(response, await runner.run(statement)));
  } finally {
    running.delete(queryId);
  }
}

async function send(response: ServerResponse, result: Result): Promise<void> {
  response.setHeader("X-ClickHouse-Format", result.format);
  response.setHeader("Content-Type", contentType(result.format));
  // After this an error can only end the body early: the socket is destroyed, so that no client takes the body for
  // complete.
  await pipeline(Readable.from(result.chunks, { objectMode: false }), response);
}

/** A client that stops reading, or reads a byte at a time, is cut off. */
async function sendWithin(response: ServerResponse, result: Result, limits: AnswerLimits): Promise<void> {
  response.setTimeout(limits.stalledMs, () => response.destroy());
  const cutOff = setTimeout(() => response.destroy(), limits.wholeMs);
  await send(response, result).finally(() => clearTimeout(cutOff));
}

/** Reads one statement: the URL's `query`, followed by the body, as in ClickHouse. */
async function readStatement(request: IncomingMessage, url: URL): Promise<Statement> {
  const query = url.searchParams.get("query") ?? "";
  const settings = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (name === "session_id") {
      throw exception(48, "the embedded engine keeps no sessions");
    }
    if (!RESERVED.has(name) && /^[A-Za-z_]\w*$/.test(name)) settings.set(name, value);
  }
  // As in ClickHouse, a GET must not change anything.
  if (request.method === "GET" && !settings.has("readonly")) settings.set("readonly", "2");
  const header = (name: string) => {
    const value = request.headers[name];
    return typeof value === "string" ? value : undefined;
  };
  const common = {
    database: url.searchParams.get("database") ?? header("x-clickhouse-database"),
    format: url.searchParams.get("default_format") ?? header("x-clickhouse-format") ?? "TabSeparated",
    settings,
  };
  const body = request.headers["content-encoding"] === "gzip" ? request.pipe(createGunzip()) : request;
  if (takesData(query)) return { ...common, sql: query, data: body };
  const { head, data } = await readHead(query === "" ? "" : `${query}\n`, body);
  if (head.trim() === "") throw exception(62, "Empty query");
  return { ...common, sql: head, data };
}

const INSERT = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*INSERT\s/i;

/** Whether everything after the text is rows: an INSERT that ends in FORMAT and does not say where its rows come from. */
const takesData = (sql: string): boolean =>
  INSERT.test(sql) &&
  /\sFORMAT\s+(?!VALUES\b)\w+(\s+SETTINGS\s[^;]*)?\s*;?\s*$/i.test(sql) &&
  !/\s(SELECT|WITH|INFILE)\s/i.test(sql);

/** Reads a body that holds a statement. If it is `INSERT … FORMAT x⏎rows`, the rows are returned as a stream. */
async function readHead(
  before: string,
  body: Readable,
): Promise<{ head: string; data: Readable | undefined }> {
  const parts: Buffer[] = [Buffer.from(before)];
  let size = 0;
  const chunks = body[Symbol.asyncIterator]();
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    parts.push(next.value as Buffer);
    size += parts.at(-1)?.length ?? 0;
    const bytes = Buffer.concat(parts);
    // Searched as Latin-1, because rows may be in any format and are passed on as bytes.
    const head = bytes.toString("latin1");
    const end = INSERT.test(head) ? /\sFORMAT\s+(?!VALUES\b)\w+[ \t]*\r?\n/i.exec(head) : null;
    if (end !== null && takesData(head.slice(0, end.index + end[0].length))) {
      const at = end.index + end[0].length;
      return {
        head: bytes.subarray(0, at).toString(),
        data: Readable.from(resume(bytes.subarray(at), chunks), { objectMode: false }),
      };
    }
    if (size > MAX_SQL_BYTES) throw exception(62, "the statement is too long");
    parts.splice(0, parts.length, bytes);
  }
  return { head: Buffer.concat(parts).toString(), data: undefined };
}

async function* resume(first: Buffer, chunks: AsyncIterator<Buffer>) {
  if (first.length > 0) yield first;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

function checkCredentials(given: Credentials, user: string, password: string): void {
  const a = Buffer.from(given.password);
  const b = Buffer.from(password);
  const isKnown = given.user === undefined || given.user === user;
  if (!isKnown || a.length !== b.length || !timingSafeEqual(a, b)) {
    throw exception(516, "Authentication failed: password is incorrect, or there is no such user.");
  }
}

/** ClickHouse's own mapping where clients depend on it. Other codes are 400 if the statement is at fault, else 500. */
const STATUS: Readonly<Record<number, number>> = {
  48: 501,
  60: 404,
  81: 404,
  159: 408,
  164: 403,
  202: 503,
  241: 500,
  392: 403,
  497: 403,
  516: 403,
};
const STATEMENT_FAULTS = new Set([
  25, 26, 27, 36, 38, 41, 43, 46, 47, 50, 53, 62, 70, 73, 115, 117, 130, 456, 457,
]);

function refuse(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error = asEngineError(thrown);
  response.statusCode = STATUS[error.code] ?? (STATEMENT_FAULTS.has(error.code) ? 400 : 500);
  response.setHeader("Content-Type", "text/plain; charset=UTF-8");
  response.setHeader("X-ClickHouse-Exception-Code", String(error.code));
  // The rest of the request is not read.
  response.setHeader("Connection", "close");
  response.end(`${error.message}\n`);
}

const contentType = (format: string): string => {
  if (format === "JSON" || format === "JSONCompact") return "application/json; charset=UTF-8";
  if (/^JSON.*EachRow|NDJSON/.test(format)) return "application/x-ndjson; charset=UTF-8";
  if (format.startsWith("CSV")) return "text/csv; charset=UTF-8";
  if (/^(TabSeparated|TSV)/.test(format)) return "text/tab-separated-values; charset=UTF-8";
  return "application/octet-stream";
};
