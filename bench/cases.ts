/** The measured cases, as data, with Weir's goals for them. */

/** Model name that the simulator receives from every target: the size of an answer includes it. */
export const UPSTREAM_MODEL = "sim-small";

export interface Case {
  readonly name: string;
  readonly about: string;
  readonly stream: boolean;
  /** Calls in flight: moderate, so that the CPU cost of a call is measured rather than the depth of a queue. */
  readonly connections: number;
  /** Instruction to the simulator within the user's message: every gateway passes messages on. */
  readonly directive: string;
  /** Bytes of the user's message. */
  readonly promptBytes: number;
  /** Duration of one stream at the upstream, milliseconds; 0 for calls without delays. */
  readonly paceMs: number;
  /** Minimum content of the upstream's own answer, so that a broken upstream is not taken as reference. */
  readonly minText: number;
  readonly events: number;
  /** Goal for Weir's CPU per call, as a multiple of the bare pipe's. */
  readonly goalRatio?: number;
  /** Goal for Weir's resident memory, MB. */
  readonly goalResidentMb?: number;
}

const GAP_MS = 20;
const SLOW_EVENTS = 50;
const slowStreams = (connections: number) => ({
  name: `streams-${connections}`,
  about: `${connections.toLocaleString("en")} concurrent streams of ${SLOW_EVENTS} events, ${GAP_MS} ms apart`,
  stream: true,
  connections,
  directive: `[[sim tokens=${SLOW_EVENTS} gap_ms=${GAP_MS}]]`,
  promptBytes: 1_000,
  paceMs: SLOW_EVENTS * GAP_MS,
  minText: SLOW_EVENTS,
  events: SLOW_EVENTS,
  goalRatio: 1.3,
});

export const CASES: readonly Case[] = [
  {
    name: "json-1k",
    about: "JSON call of 1 KB, answer of 1 KB",
    stream: false,
    connections: 32,
    directive: "[[sim bytes=1024]]",
    promptBytes: 900,
    paceMs: 0,
    minText: 400,
    events: 0,
    goalRatio: 2.5,
  },
  {
    name: "json-100k",
    about: "JSON call of 100 KB, answer of 100 KB",
    stream: false,
    connections: 16,
    directive: "[[sim bytes=102400]]",
    promptBytes: 102_000,
    paceMs: 0,
    minText: 90_000,
    events: 0,
  },
  {
    name: "burst-64",
    about: "stream of 64 events in a burst",
    stream: true,
    connections: 32,
    directive: "[[sim tokens=64 burst]]",
    promptBytes: 1_000,
    paceMs: 0,
    minText: 64,
    events: 64,
    goalRatio: 0.9,
  },
  slowStreams(100),
  { ...slowStreams(1_000), goalResidentMb: 250 },
];

const FILLER = "The river runs under the bridge and the weir measures what it lets through. ";

/** The request body of a case for a target that knows the simulator's model as `model`. */
export function requestBody(benchCase: Case, model: string): string {
  const text = FILLER.repeat(Math.ceil(benchCase.promptBytes / FILLER.length)).slice(
    0,
    benchCase.promptBytes,
  );
  return JSON.stringify({
    model,
    ...(benchCase.stream ? { stream: true } : {}),
    max_tokens: 256,
    messages: [{ role: "user", content: `${benchCase.directive} ${text}` }],
  });
}
