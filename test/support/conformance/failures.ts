/** Calls that fail by the fault of the upstream, as data: what a caller is told, whole and streamed, in any dialect. */
import type { UpstreamName } from "./ends.ts";

export interface Ending {
  readonly status: number;
  readonly code: string;
}

/** A call that fails, by the fault of the upstream named by its instruction, or by that of the request. */
export interface FailureCase {
  readonly name: string;
  /** Simulator instruction; see `simulator/README.md`. */
  readonly instruction: Readonly<Record<string, unknown>>;
  /** In the dialect's own words, where it has some. */
  readonly words?: Partial<Readonly<Record<UpstreamName, Readonly<Record<string, unknown>>>>>;
  /** Dialects that can say it; absent: all. */
  readonly only?: readonly UpstreamName[];
  readonly whole: Ending;
  /** Where a whole answer of the dialect cannot say as much as its stream. */
  readonly wholeOf?: Partial<Readonly<Record<UpstreamName, Ending>>>;
  /** Status 200: the error is an event of a stream that had begun. */
  readonly stream: Ending;
  /** What the caller is told; elsewhere the message is the gateway's own. */
  readonly message?: string;
  readonly retryAfter?: string;
  /** An answer that never began: the upstream's status decides, in any dialect. See `meets` in `pairs.ts`. */
  readonly isOfOneEnd?: true;
}

const both = (name: string, instruction: FailureCase["instruction"], ending: Ending): FailureCase => ({
  name,
  instruction,
  whole: ending,
  stream: ending,
});

const refused = (status: string, instruction: FailureCase["instruction"], ending: Ending): FailureCase => ({
  ...both(status, { status: Number(status), ...instruction }, ending),
  isOfOneEnd: true,
});

const ERROR: Ending = { status: 502, code: "upstream_error" };
const CAPACITY: Ending = { status: 429, code: "upstream_capacity" };
const UNREADABLE: Ending = { status: 502, code: "upstream_invalid_response" };
/** Beyond what frames the beginning of an answer in any dialect. */
const MIDWAY = { after: 8, tokens: 30 };

export const FAILURES: readonly FailureCase[] = [
  {
    ...refused("400", { error_message: "That is no question." }, { status: 400, code: "upstream_rejected" }),
    message: "That is no question.",
  },
  refused("401", { error_message: "Key sk-123 is wrong." }, ERROR),
  { ...refused("429", { retry_after: 7 }, CAPACITY), retryAfter: "7" },
  refused("500", { error_message: "Traceback (most recent call last)" }, ERROR),
  refused("529", {}, CAPACITY),
  both("T14: an error first, under 200", { fault: "error_first" }, ERROR),
  {
    ...both("T14: overloaded first, under 200", { fault: "error_first" }, CAPACITY),
    words: {
      chat: { error_type: "overloaded_error" },
      responses: { error_code: "rate_limit_exceeded" },
      messages: { error_type: "overloaded_error" },
      gemini: { error_type: "UNAVAILABLE" },
      converse: { error_type: "ThrottlingException" },
      completions: { error_type: "overloaded_error" },
    },
    // The kind of an error is in a frame's header; a body of this dialect has none.
    wholeOf: { converse: ERROR },
  },
  {
    name: "an answer that says it failed",
    instruction: { fault: "failed", ...MIDWAY },
    only: ["responses"],
    whole: ERROR,
    stream: { status: 200, code: "upstream_error" },
  },
  {
    name: "T13: an error behind content",
    instruction: { fault: "error_mid", ...MIDWAY },
    whole: ERROR,
    stream: { status: 200, code: "upstream_error" },
  },
  {
    name: "a connection cut behind content",
    instruction: { fault: "cut_mid", ...MIDWAY },
    whole: ERROR,
    stream: { status: 200, code: "upstream_error" },
  },
  {
    name: "a stream that ends before its end",
    instruction: { fault: "close_mid", ...MIDWAY },
    whole: ERROR,
    stream: { status: 200, code: "upstream_invalid_response" },
  },
  both("what is no answer", { fault: "wrong_type" }, UNREADABLE),
];

export const failuresOf = (upstream: UpstreamName): readonly FailureCase[] =>
  FAILURES.filter(({ only }) => only === undefined || only.includes(upstream));
