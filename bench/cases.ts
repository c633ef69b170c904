/** The kinds of call that are measured, as data, and the goals that Weir has set itself for them. */

/** The model as the simulator is asked for it, through every target: its name is part of what an answer is padded to. */
export const UPSTREAM_MODEL = "sim-small";

export interface Case {
  readonly name: string;
  readonly about: string;
  readonly stream: boolean;
  /** Calls in flight: moderate, so that the CPU cost of a call is measured rather than the depth of a queue. */
  readonly connections: number;
  /** What the simulator is told, by a directive in the user's message: every gateway passes messages on. */
  readonly directive: string;
  /** Bytes of the user's message. */
  readonly promptBytes: number;
  /** Milliseconds that one stream takes at the upstream; 0 for calls that end as fast as they can. */
  readonly paceMs: number;
  /** What the upstream's own answer must carry at least, so that a broken upstream is no reference. */
  readonly minText: number;
  readonly events: number;
  /** Weir's CPU a call, at most so many times the bare pipe's. */
  readonly goalRatio?: number;
  /** Weir's resident memory, at most so many MB. */
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
