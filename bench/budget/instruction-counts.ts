/** What callgrind counts of a call: instructions, entries into V8's runtime, blocks that are allocated outside of V8's heap. */
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { control, underCallgrind } from "../instructions/callgrind.ts";
import { type CallgrindFile, readCallgrind } from "../instructions/callgrind-file.ts";
import { COUNTED_HOST, conductCounted, PLAN } from "../instructions/counted-process.ts";
import type { CallKind } from "../instructions/streams.ts";
import type { Processes } from "../processes.ts";
import { type Arrived, Attribution, enteredBefore, withoutCallers } from "./attribution.ts";
import { CodeLog } from "./code-log.ts";
import { type Measure, Tally } from "./tally.ts";

/**
 * Functions through which all kinds of callers go are kept apart by some callers, so that those are known behind them. Patterns of
 * callgrind: two of which one begins as the other does make it miss functions.
 */
const BY_CALLERS: readonly (readonly [callers: number, pattern: string])[] = [
  [5, "Builtins_CEntry*"],
  [3, "Builtins_CallApiCallback*"],
  [3, "Builtins_HandleApiCallOrConstruct"],
  [2, "Builtins_AdaptorWithBuiltinExitFrame"],
  [15, "malloc"],
  [15, "calloc"],
  [15, "realloc"],
  [15, "posix_memalign"],
];

const ALLOCATES = /^(?:malloc|calloc|realloc|posix_memalign|memalign|aligned_alloc)$/;
const LEAVES_BY_RUNTIME = /^Builtins_CEntry/;
const LEAVES_BY_API = /^Builtins_(?:CallApiCallback|HandleApiCallOrConstruct)/;
/** What those call beside the function that is asked for. */
const HELPER = /^Builtins_|^v8::internal::(?:HandleScope|JSReceiver|Isolate|ExternalReference)/;

interface Window {
  readonly kind: CallKind;
  readonly calls: number;
  readonly file: string;
}

interface Context {
  readonly repoDir: string;
  readonly scratchDir: string;
  readonly say: (line: string) => void;
}

/** @returns a tally of each kind of call, of one call. @throws Error where valgrind or the counted gateway fails */
export async function countInstructions(
  processes: Processes,
  { repoDir, scratchDir, say }: Context,
): Promise<ReadonlyMap<CallKind, Tally>> {
  const outDir = join(scratchDir, "callgrind");
  mkdirSync(outDir);
  const logFile = join(scratchDir, "v8.log");
  const windows: Window[] = [];
  const contexts = BY_CALLERS.map(([callers, pattern]) => `--separate-callers${callers}=${pattern}`);
  await conductCounted(
    processes,
    {
      repoDir,
      plan: { ...PLAN, scratchDir: outDir, windows: 1 },
      under: [...underCallgrind(outDir), "--dump-instr=yes", ...contexts],
      flags: ["--log-code", "--log-source-position", `--logfile=${logFile}`, "--no-logfile-per-isolate"],
    },
    async (step, { pid }) => {
      const gateway = { name: "the gateway", pid, outDir, host: COUNTED_HOST };
      if (step.kind === "warm") {
        say("the gateway under callgrind is warm");
        await control(gateway, "--instr=on");
      } else if (step.kind === "begin") await control(gateway, "--zero");
      else if (step.kind === "end") {
        await control(gateway, "--dump");
        windows.push({ kind: step.of, calls: step.calls, file: taken(outDir, pid, step.of) });
        say(`instructions of ${step.of} are counted`);
      }
    },
  );
  const code = await CodeLog.read(logFile);
  return new Map(
    windows.map(({ kind, calls, file }) => {
      const counted = readCallgrind(file);
      return [kind, tallyOf(counted, new Attribution(counted, code, repoDir), calls)];
    }),
  );
}

/** The dump that was just written, under a name of its own. */
function taken(outDir: string, pid: number, kind: CallKind): string {
  const found = readdirSync(outDir).find((name) => name.startsWith(`callgrind.${pid}.`));
  if (found === undefined) throw new Error(`callgrind wrote no figures of ${kind}`);
  const file = join(outDir, `${kind}.out`);
  renameSync(join(outDir, found), file);
  return file;
}

function tallyOf(file: CallgrindFile, attribution: Attribution, calls: number): Tally {
  const tally = new Tally();
  const add = (arrived: Arrived, measure: Measure): void => {
    for (const [step, amount] of arrived.steps) tally.add("step", step, measure, amount / calls);
    for (const [place, amount] of arrived.places) tally.add("place", titleOf(place), measure, amount / calls);
  };
  for (const [kind, arrived] of attribution.instructions()) add(arrived, kind);
  for (const { fn, instructions } of file.costs)
    if (!fn.startsWith("0x")) tally.add("function", withoutCallers(fn), "runtime", instructions / calls);
  const entries = attribution.calls(
    (called, caller) =>
      (LEAVES_BY_RUNTIME.test(caller) || LEAVES_BY_API.test(caller)) &&
      !called.startsWith("0x") &&
      !HELPER.test(called),
  );
  for (const [name, arrived] of entries) {
    add(arrived, "entries");
    for (const [place, amount] of arrived.places)
      tally.add("entry", `${shortName(name)} ← ${titleOf(place)}`, "entries", amount / calls);
  }
  const blocks = attribution.calls((called) => ALLOCATES.test(withoutCallers(called)), enteredBefore);
  for (const [name, arrived] of blocks) {
    add(arrived, "blocks");
    for (const [place, amount] of arrived.places)
      tally.add("allocated", `${shortName(name)} ← ${titleOf(place)}`, "blocks", amount / calls);
  }
  return tally;
}

const titleOf = ({ name, file }: { readonly name: string; readonly file: string }): string =>
  file === "" ? shortName(name) : `${name === "" ? "(anonymous)" : name} ${file}`;

/** Without the arguments that all of V8's runtime functions have. */
export const shortName = (name: string): string =>
  name
    .replaceAll("v8::internal::", "")
    .replaceAll("(anonymous namespace)::", "")
    .replace(/\((?:int, unsigned long\*, |v8::FunctionCallbackInfo).*$/s, "")
    .slice(0, 100);
