/**
 * Prepares a batch of outbox rows for ClickHouse: redacts the payloads and separates the rows by table. Runs in a worker;
 * buffers are transferred. If a payload cannot be redacted, or not in the time that its org has in a batch, the row is inserted
 * without its payload.
 */
import { type RowParts, rowParts, writePayload, writeRedactable } from "../record/row.ts";
import { RowBinaryWriter } from "../record/row-binary.ts";
import { WorkBudget } from "./metered-text.ts";
import { type Redactor, redactor, redactorOf } from "./redact.ts";

export interface FinishInput {
  /** All rows, one after another. */
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
  /** RowBinary columns to append to each row of `requests`. */
  readonly tail?: Uint8Array;
}

/** Rows of one table, ready to insert. */
interface TableRows {
  readonly bytes: Uint8Array;
  readonly rows: number;
}

export interface Finished {
  readonly requests: TableRows;
  readonly payloads: TableRows;
  /** Rows that are inserted without the payload they had. */
  readonly payloadsLost: number;
  /** Indexes of rows that are damaged or have an unknown layout. */
  readonly undecodable: readonly number[];
}

/** For the own patterns of all orgs: at most half of the minute that a task may take. */
const WORK_OF_BATCH = 4_000_000_000;
/** For those of one org, so that it cannot take it all: about a megabyte with eight usual patterns, 7 s at the worst found. */
export const WORK_OF_RULES = 1_000_000_000;

/** What own patterns may still do in a batch, by the rules of their org. */
function batchBudgets(workOfRules: number): (rules: string) => WorkBudget {
  const all = new WorkBudget(WORK_OF_BATCH);
  const byRules = new Map<string, WorkBudget>();
  return (rules) => {
    const budget = byRules.get(rules) ?? new WorkBudget(workOfRules, all);
    byRules.set(rules, budget);
    return budget;
  };
}

const NO_BYTES = new Uint8Array(0);
/** Size of a typical row of `requests`. */
const RECORD_BYTES = 1024;

/** @param workOfRules what the own patterns of one org may do */
export function finishBatch(
  { bytes, lengths, tail = NO_BYTES }: FinishInput,
  workOfRules = WORK_OF_RULES,
): Finished {
  const requests = new RowBinaryWriter(lengths.length * RECORD_BYTES);
  const payloads = new RowBinaryWriter(bytes.length);
  const undecodable: number[] = [];
  const budgetOf = batchBudgets(workOfRules);
  let payloadRows = 0;
  let payloadsLost = 0;
  let at = 0;
  for (const [position, length] of lengths.entries()) {
    const parts = rowParts(bytes.subarray(at, at + length));
    at += length;
    if (parts === undefined) {
      undecodable.push(position);
      continue;
    }
    const redactor = redactorFor(parts);
    const budget = budgetOf(parts.rules);
    const kept = keepPayload(payloads, parts, redactor, budget);
    if (kept === "written") payloadRows++;
    else if (kept === "unredactable") payloadsLost++;
    requests.raw(parts.columns);
    // An upstream's message may quote the prompt, and an error the request: they are redacted by the same rules.
    const { errorMessage, errorDetails } = parts.error;
    writeRedactable(requests, {
      payloadState: kept === "unredactable" ? "off" : parts.payloadState,
      upstreamMessages: parts.upstreamMessages.map((message) => redacted(message, redactor, budget)),
      error: {
        errorMessage: redactedPart(errorMessage, redactor, budget),
        errorDetails: redactedPart(errorDetails, redactor, budget),
      },
    });
    requests.raw(tail);
  }
  return {
    requests: { bytes: requests.take(), rows: lengths.length - undecodable.length },
    payloads: { bytes: payloads.take(), rows: payloadRows },
    payloadsLost,
    undecodable,
  };
}

/** Undefined if the rules do not compile: then nothing may be stored. */
function redactorFor({ rules }: RowParts): Redactor | undefined {
  try {
    return rules === "" ? redactor(NO_RULES) : redactorOf(rules);
  } catch {
    return undefined;
  }
}

const NO_RULES = { presets: [], patterns: [] };

function keepPayload(
  out: RowBinaryWriter,
  { identity, expiresMs, request, response }: RowParts,
  redactor: Redactor | undefined,
  budget: WorkBudget,
): "none" | "unredactable" | "written" {
  if (request === undefined && response === undefined) return "none";
  if (redactor === undefined) return "unredactable";
  const start = out.length;
  try {
    out.raw(identity);
    const [asked, answered] = [request, response].map((part) => redactor.bytes(part ?? NO_BYTES, budget));
    writePayload(out, expiresMs, asked ?? NO_BYTES, answered ?? NO_BYTES);
    return "written";
  } catch {
    out.rewind(start);
    return "unredactable";
  }
}

function redacted(message: string, redactor: Redactor | undefined, budget: WorkBudget): string {
  if (message === "" || redactor === undefined) return "";
  try {
    return redactor.text(message, budget);
  } catch {
    return "";
  }
}

/** As `redactPayload` of the pool redacts it for whoever reads the row before it is stored. */
function redactedPart(text: string, redactor: Redactor | undefined, budget: WorkBudget): string {
  if (text === "" || redactor === undefined) return "";
  try {
    return Buffer.from(redactor.bytes(Buffer.from(text), budget)).toString();
  } catch {
    return "";
  }
}
