/**
 * Instructions to the simulator within a request: path segments `/with/<json>`, the body's `simulator` object, and a
 * `[[sim key=value]]` directive in the last user message; later ones override earlier ones. An unknown instruction is a
 * 400 that names its key: a test that misspells a fault must not pass.
 */
import { z } from "zod";
import { fail } from "../src/base/errors.ts";

const FAULTS = [
  "reset",
  "hang",
  "half_json",
  "reset_mid",
  "close_mid",
  "cut_mid",
  "error_first",
  "error_mid",
  "failed",
  "malformed",
  "no_final_newline",
  "no_newline_ever",
  "stall",
  "wrong_type",
  "empty_body",
] as const;

const count = (max: number) => z.int().min(0).max(max);
const delayMs = count(3_600_000);
const headerText = z.string().regex(/^[\x20-\x7e]*$/, "must be printable ASCII");

/** Every key, checked. Delays in milliseconds, sizes in bytes, `retry_after` in seconds. README.md has the table. */
const Instruction = z.strictObject({
  tokens: count(200_000).optional(),
  reasoning: count(200_000).optional(),
  reasoning_tokens: count(10_000_000).optional(),
  prompt_tokens: count(1_000_000_000).optional(),
  cached_tokens: count(1_000_000_000).optional(),
  cache_write_tokens: count(1_000_000_000).optional(),
  cache_write_1h_tokens: count(1_000_000_000).optional(),
  usage: z
    .union([z.enum(["none", "every", "with_last", "split", "always"]), z.record(z.string(), z.unknown())])
    .optional(),
  thinking_blocks: count(128).optional(),
  redacted: count(128).optional(),
  require_thinking: z.boolean().optional(),
  tool_calls: count(128).optional(),
  uses: z.record(z.string(), count(1000)).optional(),
  tier: z.string().optional(),
  speed: z.string().optional(),
  geo: z.string().optional(),
  stop_sequence: z.string().min(1).optional(),
  refuse: z.string().min(1).optional(),
  echo: z.boolean().optional(),
  unicode: z.boolean().optional(),

  first_ms: delayMs.optional(),
  header_then_ms: delayMs.optional(),
  gap_ms: delayMs.optional(),
  burst: z.boolean().optional(),
  one_write: z.boolean().optional(),

  split: z.array(z.int().min(1)).min(1).max(100_000).optional(),
  split_every: z.int().min(1).optional(),
  crlf: z.boolean().optional(),
  comments: z.boolean().optional(),
  gzip: z.boolean().optional(),
  bytes: z.int().min(1).max(67_108_864).optional(),
  total_bytes: z.int().min(1).max(1_073_741_824).optional(),
  event_bytes: z.int().min(1).max(16_777_216).optional(),

  status: z.int().min(400).max(599).optional(),
  retry_after: z.union([z.number().min(0), headerText]).optional(),
  retry_after_ms: z.number().min(0).optional(),
  error_type: z.string().optional(),
  error_code: z.string().optional(),
  error_message: z.string().optional(),
  reject: z.array(z.string()).optional(),
  fault: z.enum(FAULTS).optional(),
  after: count(1_000_000).optional(),
  times: z.int().min(1).max(1_000_000).optional(),
});

export type Instruction = z.output<typeof Instruction>;

const NO_INSTRUCTION: Instruction = Object.freeze({});

/** Keys whose directive value is a comma-separated list. */
const LISTS = new Set(["split", "reject"]);
const DIRECTIVE = /\[\[sim\b([\s\S]*?)\]\]/g;
const PAIR = /([^\s=]+)(?:=("(?:[^"\\]|\\.)*"|\S*))?/g;

/** The instructions of a path: each `/with/<urlencoded JSON object>` segment, in order. */
export function pathInstruction(path: string): unknown[] {
  const found: unknown[] = [];
  const segments = path.split("/");
  for (let i = 0; i < segments.length - 1; i++) {
    if (segments[i] !== "with") continue;
    try {
      found.push(JSON.parse(decodeURIComponent(segments[i + 1] as string)));
    } catch {
      throw fail("invalid_value", "The path segment after /with/ is not URL-encoded JSON.", {
        param: "/with",
      });
    }
    i++;
  }
  return found;
}

/** The directives of a message text: `[[sim tokens=5 crlf refuse="I cannot." split=3,7]]`. */
export function directives(text: string): unknown[] {
  if (!text.includes("[[sim")) return [];
  return [...text.matchAll(DIRECTIVE)].map(([, pairs]) =>
    Object.fromEntries(
      [...(pairs as string).matchAll(PAIR)].map(([, key, value]) => [key, pairValue(key, value)]),
    ),
  );
}

export const withoutDirectives = (text: string): string =>
  text.includes("[[sim") ? text.replace(DIRECTIVE, "").trim() : text;

function pairValue(key: string | undefined, value: string | undefined): unknown {
  if (value === undefined) return true;
  if (key !== undefined && LISTS.has(key)) return value.split(",").map(scalar);
  return scalar(value);
}

function scalar(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Merges instruction objects, later wins, and checks the result.
 * @throws WeirError `invalid_value` with `param` `/simulator/<key>` for an unknown key or a wrong value
 */
export function readInstruction(sources: readonly unknown[]): Instruction {
  if (sources.length === 0) return NO_INSTRUCTION;
  const merged: Record<string, unknown> = {};
  for (const source of sources) {
    if (typeof source !== "object" || source === null || Array.isArray(source)) {
      throw fail("invalid_value", "A simulator instruction is a JSON object.", { param: "/simulator" });
    }
    Object.assign(merged, source);
  }
  const parsed = Instruction.safeParse(merged);
  if (!parsed.success) throw misunderstood(parsed.error.issues[0]);
  refuseConflicts(parsed.data);
  return parsed.data;
}

function misunderstood(issue: z.core.$ZodIssue | undefined) {
  if (issue?.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    return fail("invalid_value", `The simulator has no instruction "${key}".`, {
      param: `/simulator/${key}`,
    });
  }
  const key = issue?.path.join("/") ?? "";
  return fail("invalid_value", `Simulator instruction "${key}": ${issue?.message ?? "not understood"}.`, {
    param: `/simulator/${key}`,
  });
}

/** Repeated events are written from one buffer, so options that need the whole body cannot apply. */
function refuseConflicts(instruction: Instruction): void {
  if (instruction.total_bytes === undefined) return;
  for (const key of ["split", "split_every", "one_write", "gzip"] as const) {
    if (instruction[key] !== undefined) {
      throw fail("invalid_value", `Simulator instruction "${key}" does not combine with "total_bytes".`, {
        param: `/simulator/${key}`,
      });
    }
  }
}
