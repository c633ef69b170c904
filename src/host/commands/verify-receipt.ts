/** `weir verify-receipt`: checks the signature of a receipt by published keys, and says what the receipt states. */
import { createReadStream } from "node:fs";
import type { JSONWebKeySet } from "jose";
import { boundedBody } from "../../base/bounded-body.ts";
import type { Receipt } from "../../billing/receipts/receipt.ts";
import { MOST_RECEIPT_BYTES, NotVerified, verifyReceipt } from "../../billing/receipts/verify.ts";
import { readConfig } from "../settings/config.ts";
import type { Given, Shell } from "./command.ts";
import { addressOf, printable } from "./operate.ts";

const MOST_KEYS_BYTES = 1024 * 1024;

/** @returns 0 where it verifies, else 1. @throws Error where there is nothing to read */
export async function verifyReceiptFile({ operand, options }: Given, shell: Shell): Promise<number> {
  if (operand === undefined) throw new Error("FILE is needed, or - for standard input");
  const text = await readAtMost(operand, MOST_RECEIPT_BYTES);
  const keys = typeof options.jwks === "string" ? await keysOf(options.jwks) : await keysOfGateway(shell);
  try {
    const { receipt, kid } = await verifyReceipt(text, keys);
    shell.out(`The receipt verifies: it was signed by ${printable(kid)} and not changed since.\n\n`);
    for (const [name, value] of linesOf(receipt)) shell.out(`${name.padEnd(14)} ${printable(value)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof NotVerified)) throw error;
    shell.err(`The receipt does not verify: ${error.message}\n`);
    return 1;
  }
}

function linesOf(receipt: Receipt): [string, string][] {
  const { usage, cost, ledger, policy } = receipt;
  return [
    ["issued by", `${receipt.iss} at ${new Date(receipt.iat * 1000).toISOString()}`],
    ["call", `${receipt.request_id} (${receipt.environment}, ${receipt.status})`],
    ["org", `${receipt.org_id}, project ${receipt.project_id}, key ${receipt.key_id}`],
    ["model", `${receipt.model} by ${receipt.endpoint_id} as ${receipt.upstream_model}`],
    ["time", `${receipt.started_at} to ${receipt.ended_at}`],
    [
      "tokens",
      `${usage.input_tokens} in (${usage.cache_read_tokens} read from cache, ${usage.cache_write_tokens} written), ` +
        `${usage.output_tokens} out; counted by: ${receipt.usage_source}`,
    ],
    ...cost.lines.map(({ kind, units, unit_price_nano, micro_usd, tool, tier }): [string, string] => [
      "cost line",
      `${[kind, tool, tier].filter((word) => word !== undefined).join(" ")}: ${units} at ${unit_price_nano} nano-USD = ${micro_usd} micro-USD`,
    ]),
    ["cost", `${cost.total_micro_usd} micro-USD at prices ${cost.price_version}`],
    [
      "ledger",
      ledger === undefined
        ? "no entry: nothing was charged"
        : `entry ${ledger.seq} of ${ledger.created_at}: ${ledger.amount_micro_usd} micro-USD`,
    ],
    ...(policy === undefined
      ? []
      : [["policy", `${policy.name} version ${policy.version}`] satisfies [string, string]]),
  ];
}

async function keysOf(path: string): Promise<JSONWebKeySet> {
  return keySet(await readAtMost(path, MOST_KEYS_BYTES), path);
}

/** Not of the address that the receipt names: whoever forges one would name their own. */
async function keysOfGateway(shell: Shell): Promise<JSONWebKeySet> {
  const { host, port } = readConfig(shell.env);
  const url = `http://${addressOf(host)}:${port}/.well-known/jwks.json`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch((error: unknown) => {
    throw new Error(`no gateway answers at ${url}: name the published keys by --jwks`, { cause: error });
  });
  return keySet(await answer.text(), url);
}

function keySet(text: string, from: string): JSONWebKeySet {
  try {
    const value = JSON.parse(text);
    if (Array.isArray(value?.keys)) return value;
  } catch {
    // Said below.
  }
  throw new Error(`${from} is no set of keys (RFC 7517)`);
}

/** @throws Error where the file is missing or longer */
async function readAtMost(path: string, mostBytes: number): Promise<string> {
  const [stream, name] =
    path === "-" ? [process.stdin, "standard input"] : [createReadStream(path, { end: mostBytes }), path];
  const tooLong = () => new Error(`${name} is longer than ${mostBytes} bytes`);
  return (await boundedBody(stream, mostBytes, tooLong)).toString("utf8");
}
