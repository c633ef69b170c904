/** The command line of `npm run bench`. */
import { parseArgs } from "node:util";
import { CASES, type Case } from "./cases.ts";
import type { RatesOptions } from "./rates.ts";
import type { Target } from "./targets/target.ts";
import { TARGETS } from "./targets/targets.ts";

export interface Options {
  readonly cases: readonly Case[];
  readonly targets: readonly Target[];
  readonly rounds: number;
  /** Seconds of load per round, case and target. */
  readonly seconds: number;
  /** Seconds of load before the first counted round. */
  readonly warmUpSeconds: number;
  /** Seconds of one call at a time in a round, for the added latency. */
  readonly latencySeconds: number;
  /** Maximum wait for work that follows calls, milliseconds. */
  readonly settleMs: number;
  /** Options of the runs at fixed rates. */
  readonly rate: RatesOptions;
  /** Pause before the first second that is measured by itself. */
  readonly idleSeconds: number;
  readonly jsonFile: string | undefined;
  readonly csvFile: string | undefined;
  /** Compare with the baseline, or write it. */
  readonly baseline: "check" | "save" | undefined;
  readonly markdown: boolean;
}

const PEERS = TARGETS.filter((target) => target.peer && target.onlyNamed !== true);
const INSTALLED = PEERS.filter((peer) => peer.binaryVariable === undefined).map((peer) => peer.name);
const GIVEN = PEERS.filter((peer) => peer.binaryVariable !== undefined).map(
  (peer) => `${peer.name}: ${peer.binaryVariable}`,
);

export const USAGE = `npm run bench -- [options]
npm run bench -- planning   what deciding and planning a call cost, without any of the options

  --rounds N      counted rounds of every case and target (default 5)
  --seconds S     load in a round, for each case and target (default 4; CPU is counted in ticks of 10 ms)
  --warm-up S     load before the first round, for each case and target (default 10, as long as V8 optimises)
  --idle S        pause after which the first second is measured by itself (default 60)
  --cases A,B     of: ${CASES.map((benchCase) => benchCase.name).join(", ")}; or all (default: without ${CASES.filter(
    (benchCase) => benchCase.onlyNamed,
  )
    .map((benchCase) => benchCase.name)
    .join(", ")})
  --targets X,Y   of: ${TARGETS.map((target) => target.name).join(", ")}
  --peers         adds ${INSTALLED.join(", ")}, installed into ~/.cache/weir-bench on first use,
                  and those whose binary a variable has (${GIVEN.join(", ")})
  --quick         one short round: shows that everything works, not what it costs
  --markdown      prints the tables of docs/performance.md
  --json FILE     writes every figure of every round
  --csv FILE      the same for plotting
  --check         exit code 1 where Weir is worse than bench/baseline.json by more than the noise of both
  --save-baseline writes that file`;

/** @throws Error that names the invalid argument. */
export function readOptions(args: readonly string[]): Options | "help" | "planning" {
  if (args.length === 1 && args[0] === "planning") return "planning";
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string" },
      seconds: { type: "string" },
      "warm-up": { type: "string" },
      cases: { type: "string" },
      targets: { type: "string" },
      peers: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      markdown: { type: "boolean", default: false },
      idle: { type: "string" },
      json: { type: "string" },
      csv: { type: "string" },
      check: { type: "boolean", default: false },
      "save-baseline": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const seconds = positive("seconds", values.seconds, values.quick ? 0.5 : 4);
  return {
    cases: values.cases === "all" ? CASES : pick("cases", CASES, values.cases, (one) => !one.onlyNamed),
    targets: pick("targets", TARGETS, values.targets, isUsual(values.peers)),
    rounds: Math.ceil(positive("rounds", values.rounds, values.quick ? 1 : 5)),
    seconds,
    warmUpSeconds: positive("warm-up", values["warm-up"], values.quick ? seconds : 10),
    latencySeconds: Math.min(1, seconds / 2),
    settleMs: values.quick ? 0 : 3_000,
    rate: { seconds: seconds / 2, repeats: values.quick ? 1 : 3 },
    idleSeconds: positive("idle", values.idle, values.quick ? 0.2 : 60),
    jsonFile: values.json,
    csvFile: values.csv,
    baseline: values.check ? "check" : values["save-baseline"] ? "save" : undefined,
    markdown: values.markdown,
  };
}

/** Targets used by default. */
const isUsual =
  (peers: boolean) =>
  ({ peer, onlyNamed }: Target): boolean =>
    onlyNamed !== true && (peers || !peer);

function positive(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!(value > 0 && value <= 3_600))
    throw new Error(`--${name}: "${text}" is not a number above 0 and up to 3600`);
  return value;
}

function pick<T extends { readonly name: string }>(
  option: string,
  known: readonly T[],
  text: string | undefined,
  otherwise: (item: T) => boolean,
): readonly T[] {
  if (text === undefined) return known.filter(otherwise);
  const names = text.split(",");
  const unknown = names.find((name) => !known.some((item) => item.name === name));
  if (unknown !== undefined) {
    throw new Error(`--${option}: "${unknown}" is none of ${known.map((item) => item.name).join(", ")}`);
  }
  return known.filter((item) => names.includes(item.name));
}
