/**
 * The analysts' users of the embedded engine: who they are, what their requests may contain, and how many run at once. The
 * gateway sends the list of users at each start of the engine and at each change.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import { MAX_ANALYST_SQL_BYTES } from "../statements/analyst-query.ts";
import { ANALYST_AT_ONCE, chosenSettings } from "../statements/analyst-settings.ts";
import { ALL_ORGS } from "../statements/engine-access.ts";
import { exception } from "../statements/engine-error.ts";
import { ALL_AT_ONCE, type AnalystStatement } from "./analyst-run.ts";
import { Gate } from "./gate.ts";

export interface EngineUser {
  readonly username: string;
  /** SHA-256 of the password, hex: passwords are random, 256 bits. */
  readonly digest: string;
  /** Null: the rows of all orgs. */
  readonly orgId: string | null;
  readonly expiresAtMs: number;
}

export interface Credentials {
  readonly user: string | undefined;
  readonly password: string;
}

const WAITING = 40;
/** Statements of one org that wait: however many users it has, it neither fills the queue of all nor takes all places. */
const WAITING_OF_ORG = 10;

/** Statements of one org: running, waiting, and their gate. */
interface Org {
  readonly gate: Gate;
  statements: number;
}

export class Analysts {
  readonly #gate = new Gate(ALL_AT_ONCE, WAITING);
  readonly #running = new Map<string, number>();
  /** Those with statements; an operator's count as one org's. */
  readonly #orgs = new Map<string, Org>();
  readonly #nowMs: () => number;
  #users = new Map<string, EngineUser>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  set(users: readonly EngineUser[]): void {
    this.#users = new Map(users.map((user) => [user.username, user]));
  }

  /** The user with this name and password, until it expires. */
  find({ user, password }: Credentials): EngineUser | undefined {
    const known = user === undefined ? undefined : this.#users.get(user);
    if (known === undefined || known.expiresAtMs <= this.#nowMs()) return undefined;
    const given = createHash("sha256").update(password).digest();
    const digest = Buffer.from(known.digest, "hex");
    return digest.length === given.length && timingSafeEqual(digest, given) ? known : undefined;
  }

  /** @throws EngineError 202 if too many run or wait */
  async run(user: EngineUser, act: () => Promise<void>): Promise<void> {
    const running = this.#running.get(user.username) ?? 0;
    if (running >= ANALYST_AT_ONCE) {
      const message = `Too many simultaneous queries for user ${user.username}: at most ${ANALYST_AT_ONCE}.`;
      throw exception(202, message);
    }
    this.#running.set(user.username, running + 1);
    try {
      await this.#within(user.orgId ?? ALL_ORGS, act);
    } finally {
      const left = (this.#running.get(user.username) ?? 1) - 1;
      if (left === 0) this.#running.delete(user.username);
      else this.#running.set(user.username, left);
    }
  }

  /** Runs it in its org's turn, then in that of all orgs. */
  async #within(orgId: string, act: () => Promise<void>): Promise<void> {
    const org = this.#orgs.get(orgId) ?? { gate: new Gate(ANALYST_AT_ONCE, WAITING_OF_ORG), statements: 0 };
    this.#orgs.set(orgId, org);
    org.statements++;
    try {
      await org.gate.run(() => this.#gate.run(act));
    } finally {
      org.statements--;
      if (org.statements === 0) this.#orgs.delete(orgId);
    }
  }
}

/** Reads one statement: the URL's `query`, followed by the body. Rows, external tables and sessions are not for analysts. */
export async function analystStatement(
  request: IncomingMessage,
  url: URL,
  { orgId }: EngineUser,
): Promise<AnalystStatement> {
  if (/^multipart\//i.test(request.headers["content-type"] ?? "")) {
    throw exception(48, "the embedded engine takes no external tables");
  }
  const query = url.searchParams.get("query") ?? "";
  const body = request.headers["content-encoding"] === "gzip" ? request.pipe(createGunzip()) : request;
  const parts: Buffer[] = [Buffer.from(query === "" ? "" : `${query}\n`)];
  let size = parts[0]?.length ?? 0;
  for await (const chunk of body) {
    parts.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MAX_ANALYST_SQL_BYTES) {
      throw exception(62, "the statement is too long");
    }
  }
  const sql = Buffer.concat(parts).toString();
  if (sql.trim() === "") throw exception(62, "Empty query");
  const format = url.searchParams.get("default_format") ?? [request.headers["x-clickhouse-format"]].flat()[0];
  return {
    sql,
    format: format !== undefined && /^\w+$/.test(format) ? format : "TabSeparated",
    settings: chosenSettings(new Map(url.searchParams)),
    rowsOf: orgId ?? ALL_ORGS,
  };
}

/** By basic auth, headers or URL. */
export function credentialsOf(request: IncomingMessage, url: URL): Credentials {
  const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const header = (name: string) => [request.headers[name]].flat()[0];
  if (basic === undefined) {
    const user = header("x-clickhouse-user") ?? url.searchParams.get("user") ?? undefined;
    return { user, password: header("x-clickhouse-key") ?? url.searchParams.get("password") ?? "" };
  }
  const pair = Buffer.from(basic, "base64").toString();
  const colon = pair.indexOf(":");
  return { user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
