/**
 * Steps of a call, each with its files: no other place says which file is of which step. The work of all other code (helpers that many steps
 * use, Node, V8's built-ins, the C library) counts for the step that called it.
 */

export const STEPS = [
  "request: head and body",
  "key",
  "admit, plan, reserve",
  "request to the upstream",
  "answer read",
  "relay, write",
  "exchange: one step after another",
  "settle, ledger, budgets",
  "record",
  "redaction",
  "outbox",
  "journal",
  "LMDB",
  "promises, timers, turns",
  "collection",
  "compilation",
  "other threads, the rest",
  "bench",
] as const;
export type Step = (typeof STEPS)[number];

/** Beginnings of paths in the repository; the longest one that fits counts. */
const OF_FILES: readonly (readonly [Step | undefined, readonly string[]])[] = [
  [
    "request: head and body",
    [
      "src/edge/",
      "src/inference/exchange/body/",
      "src/inference/exchange/open.ts",
      "src/inference/exchange/formats.ts",
      "src/inference/exchange/app-name.ts",
      "src/wire/body.ts",
      "src/wire/call-fields.ts",
      "src/wire/chat/request",
      "src/wire/schema/",
      "src/wire/accepts/",
      "src/base/route",
    ],
  ],
  ["key", ["src/edge/authorize.ts", "src/account/", "src/base/digest.ts"]],
  [
    "admit, plan, reserve",
    [
      "src/inference/exchange/admit.ts",
      "src/inference/exchange/plan.ts",
      "src/inference/exchange/affinity.ts",
      "src/inference/exchange/reserve.ts",
      "src/inference/exchange/reservation/",
      "src/credits/limits/",
      "src/catalog/",
      "src/routing/",
      "src/wire/count.ts",
      "src/wire/estimate.ts",
    ],
  ],
  [
    "request to the upstream",
    [
      "src/inference/exchange/attempt.ts",
      "src/inference/exchange/attempts.ts",
      "src/inference/upstream/",
      "src/wire/chat/splice.ts",
      "src/wire/relay/splice.ts",
      "src/wire/passages.ts",
      "src/outbound/",
    ],
  ],
  [
    "answer read",
    [
      "src/inference/upstream/http/answer-head.ts",
      "src/inference/upstream/http/response-parser.ts",
      "src/inference/upstream/decoding.ts",
      "src/inference/upstream/content-coding.ts",
      "src/wire/chat/usage.ts",
      "src/wire/chat/read-reply.ts",
      "src/wire/chat/reader.ts",
      "src/wire/relay/spliced-answer.ts",
      "src/wire/relay/capture",
      "src/wire/neutral/",
    ],
  ],
  [
    "relay, write",
    [
      "src/inference/exchange/relay",
      "src/inference/exchange/headers.ts",
      "src/inference/exchange/forms/",
      "src/wire/svc.ts",
      "src/wire/relay/",
      "src/wire/chat/splice-stream.ts",
      "src/wire/chat/chunks/",
      "src/edge/reply",
    ],
  ],
  ["exchange: one step after another", ["src/inference/exchange/"]],
  [
    "settle, ledger, budgets",
    [
      "src/inference/exchange/settle.ts",
      "src/inference/exchange/meter.ts",
      "src/inference/exchange/outcome.ts",
      "src/credits/",
      "src/store/",
    ],
  ],
  ["record", ["src/inference/exchange/record.ts", "src/record/", "src/analytics/"]],
  ["redaction", ["src/workers/redact"]],
  ["outbox", ["src/analytics/outbox/"]],
  ["journal", ["src/store/journal/", "src/store/journaled-store.ts"]],
  [
    "LMDB",
    ["src/store/lmdb/", "node_modules/lmdb/", "node_modules/msgpackr/", "node_modules/ordered-binary/"],
  ],
  [
    "promises, timers, turns",
    [
      "node:internal/process/",
      "node:internal/timers",
      "node:internal/async_hooks",
      "node:internal/callback_trampoline",
    ],
  ],
  ["bench", ["bench/", "simulator/"]],
];

const BY_LENGTH = OF_FILES.flatMap(([step, paths]) => paths.map((path) => ({ path, step }))).sort(
  (a, b) => b.path.length - a.path.length,
);

/** @param file path in the repository, or `node:…`. @returns nothing where the work is done for the caller */
export const stepOfFile = (file: string): Step | undefined =>
  BY_LENGTH.find(({ path }) => file.startsWith(path))?.step;

/** Functions of the binaries that are a step by themselves, with all that they call. */
const OF_FUNCTIONS: readonly (readonly [Step, RegExp])[] = [
  // V8 writes its log of compiled code for the counting alone.
  ["bench", /^v8::internal::(?:Compiler::LogFunctionCompilation|V8FileLogger|LogFile)/],
  [
    "collection",
    /^v8::internal::(?:Heap::(?:CollectGarbage|PerformGarbageCollection|Scavenge|CollectAllGarbage)|Scavenger|MarkCompact|Sweeper|ScavengeJob|MinorGC|GCTracer|IncrementalMarking)/,
  ],
  [
    "compilation",
    /^v8::internal::(?:compiler::|Compiler::|baseline::|interpreter::(?:Bytecode|Interpreter::)|Runtime_Compile|OptimizedCompilation|parsing::|TieringManager|Deoptimizer)/,
  ],
  [
    "promises, timers, turns",
    /^Builtins_(?:RunMicrotasks|EnqueueMicrotask|Promise|PerformPromise|NewPromise|FulfillPromise|ResolvePromise|Async|Await)/,
  ],
  ["LMDB", /^(?:mdb_|mdbx?_|lmdb|WriteWorker::|EnvWrap::|TxnWrap::|DbiWrap::|CursorWrap::)/],
];

export const stepOfFunction = (name: string): Step | undefined =>
  OF_FUNCTIONS.find(([, pattern]) => pattern.test(name))?.[0];
