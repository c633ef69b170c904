/**
 * Commands of operators: `weir orgs`, `suspend`, `resume`, `grant`, `tickets`, `plans`, `jobs`, `receipts rotate`. They talk to the running gateway
 * with the secret in its data folder, so they do what the operator's routes do and nothing else.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { OPERATOR_KEY_FILE } from "../../account/operator/operator-key.ts";
import { readSecret } from "../../base/process/secret-file.ts";
import { readConfig } from "../settings/config.ts";
import type { Given, Shell } from "./command.ts";

export type Row = Readonly<Record<string, unknown>>;

/** @returns exit code. @throws Error with a line for the operator */
export async function listOrgs({ operand }: Given, shell: Shell): Promise<number> {
  const query = operand === undefined ? "" : `?q=${encodeURIComponent(operand)}`;
  return await list(shell, `/orgs${query}`, ["id", "slug", "status", "plan_id", "billing_country", "name"]);
}

async function list(shell: Shell, path: string, columns: readonly string[]): Promise<number> {
  const { data } = await ask(shell, "GET", path);
  table(shell, data as Row[], columns);
  return 0;
}

export async function setSuspended(
  { operand, options }: Given,
  shell: Shell,
  isOn: boolean,
): Promise<number> {
  const body = { reason: needed(options.reason, "--reason") };
  const path = `/orgs/${encodeURIComponent(needed(operand, "ORG"))}/${isOn ? "suspend" : "resume"}`;
  const org = await ask(shell, "POST", path, body);
  shell.out(`${org.slug} is ${org.status}\n`);
  return 0;
}

export async function grant({ operand, options }: Given, shell: Shell): Promise<number> {
  const usd = Number(needed(options.usd, "--usd"));
  if (!(usd > 0 && usd <= 1_000_000)) throw new Error("--usd takes an amount above 0, such as 12.50");
  const body = {
    amount_micro_usd: Math.round(usd * 1e6),
    reason: needed(options.reason, "--reason"),
    idempotency_key: typeof options.key === "string" ? options.key : randomUUID(),
  };
  const posted = await ask(shell, "POST", `/orgs/${encodeURIComponent(needed(operand, "ORG"))}/grant`, body);
  const balance = (Number(posted.balance_micro_usd) / 1e6).toFixed(6);
  shell.out(`${posted.replay === true ? "Posted before" : "Posted"}: the balance is ${balance} USD\n`);
  return 0;
}

/** Lists open tickets; with an id, decides one. */
export async function tickets({ operand, options }: Given, shell: Shell): Promise<number> {
  if (operand === undefined)
    return await list(shell, "/tickets", ["id", "org_id", "kind", "created_at", "subject"]);
  const status = decisionOf(options);
  const answer = typeof options.answer === "string" ? options.answer : "";
  const ticket = await ask(shell, "POST", `/tickets/${encodeURIComponent(operand)}/decide`, {
    status,
    answer,
  });
  shell.out(`${ticket.id} is ${ticket.status}\n`);
  return 0;
}

function decisionOf({ approve, reject, close }: Given["options"]): "approved" | "rejected" | "closed" {
  const [first, ...others] = [
    ...(approve === true ? (["approved"] as const) : []),
    ...(reject === true ? (["rejected"] as const) : []),
    ...(close === true ? (["closed"] as const) : []),
  ];
  if (first === undefined || others.length > 0) throw new Error("use one of --approve, --reject and --close");
  return first;
}

/** Lists the plans in force; with an id, the orgs on one and their keys with more than it gives. */
export async function plans({ operand, options }: Given, shell: Shell): Promise<number> {
  if (operand === undefined)
    return await list(shell, "/plans", ["id", "orgs", "rpm", "tpm", "concurrency", "keys", "projects"]);
  const query = `limit=200${options.raised === true ? "&raised=true" : ""}`;
  const { data } = await ask(shell, "GET", `/plans/${encodeURIComponent(operand)}/orgs?${query}`);
  const rows = (data as Row[]).map((row) => ({ ...row, raised: raisedText(row.raised as Row[]) }));
  table(shell, rows, ["id", "slug", "status", "raised"]);
  return 0;
}

const raisedText = (keys: readonly Row[]): string =>
  keys.map(({ key_id: id, rpm }) => `${id} ${rpm} rpm`).join(", ");

export async function rotateReceiptKey(shell: Shell): Promise<number> {
  const { kid } = await ask(shell, "POST", "/receipt-keys/rotate");
  shell.out(`Receipts are signed by ${kid}\n`);
  return 0;
}

/** Lists jobs that were given up; with `KIND/KEY`, tries one again or drops it. */
export async function jobs({ operand, options }: Given, shell: Shell): Promise<number> {
  if (operand === undefined)
    return await list(shell, "/jobs", ["kind", "key", "org_id", "tries", "given_up_at", "error"]);
  const [kind = "", ...rest] = operand.split("/");
  const path = `/jobs/${encodeURIComponent(kind)}/${encodeURIComponent(rest.join("/"))}`;
  if (options.drop === true) await ask(shell, "DELETE", path);
  else await ask(shell, "POST", `${path}/retry`);
  shell.out(options.drop === true ? "Dropped\n" : "It is tried again\n");
  return 0;
}

export class NoGateway extends Error {}

/** @throws NoGateway where none answers; Error where the gateway refuses, or has no secret here */
export async function ask(
  shell: Shell,
  method: string,
  path: string,
  body?: object,
  withinMs = 30_000,
): Promise<Row> {
  const { host, port, dataDir } = readConfig(shell.env);
  const secret = readSecret(join(dataDir, OPERATOR_KEY_FILE));
  if (secret === undefined) {
    throw new NoGateway(
      `${join(dataDir, OPERATOR_KEY_FILE)} does not exist: DATA_DIR names the gateway's folder`,
    );
  }
  const at = addressOf(host);
  const url = `http://${at}:${port}/v1/operator${path}`;
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${secret}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(withinMs),
  }).catch((error: unknown) => {
    throw new NoGateway(`no gateway answers at ${at}:${port}: start it first`, { cause: error });
  });
  if (answer.status === 204) return {};
  const json = (await answer.json()) as Row;
  if (answer.ok) return json;
  const { message, code } = json.error as { message: string; code: string };
  throw new Error(`${message} (${code})`);
}

/** Where a gateway that listens on this host is reached from the same machine. */
export function addressOf(host: string): string {
  const at = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return at.includes(":") ? `[${at}]` : at;
}

export function needed(value: string | boolean | undefined, name: string): string {
  if (typeof value !== "string" || value === "") throw new Error(`${name} is needed`);
  return value;
}

/** A line for each row, its values under their names; control characters of what people wrote are not printed. */
export function table(shell: Shell, rows: readonly Row[], columns: readonly string[]): void {
  aligned(shell, [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => printable(String(row[column] ?? "")))),
  ]);
}

/** Lines of cells that stand below each other. */
export function aligned(shell: Shell, lines: readonly (readonly string[])[]): void {
  const widths = lines[0]?.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0))) ?? [];
  for (const line of lines) {
    const padded = line.map((cell, i) => cell.padEnd(widths[i] ?? 0));
    shell.out(`${padded.join("  ").trimEnd()}\n`);
  }
}

export const printable = (text: string): string => text.replace(/\p{C}/gu, " ").slice(0, 80);
