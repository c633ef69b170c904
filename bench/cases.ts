/** The measured cases, as data, with Weir's goals for them. */
import { FORMATS, type FormatName } from "./formats.ts";

/** Model name that the simulator receives from every target: the size of an answer includes it. */
export const UPSTREAM_MODEL = "sim-small";

export interface Case {
  readonly name: string;
  readonly about: string;
  readonly format: FormatName;
  readonly stream: boolean;
  /** Only when named: not part of the usual run. */
  readonly onlyNamed?: boolean;
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
  readonly maxTokens: number;
  /** Latency is measured at fixed rates, too, and the first second after a start and after a pause. */
  readonly rates?: boolean;
  /** Each call has an `Idempotency-Key` of its own. */
  readonly hasKeys?: boolean;
  /** Goal for Weir's CPU per call, as a multiple of the bare pipe's. */
  readonly goalRatio?: number;
  /** Goal for Weir's resident memory, MB. */
  readonly goalResidentMb?: number;
}

const GAP_MS = 20;

interface Paced {
  readonly connections: number;
  readonly events: number;
  readonly promptBytes: number;
}

/** Streams with an event every 20 ms. */
const paced = ({ connections, events, promptBytes }: Paced) => ({
  about: `${connections.toLocaleString("en")} concurrent streams of ${events} events, ${GAP_MS} ms apart`,
  format: "chat" as const,
  stream: true,
  connections,
  directive: `[[sim tokens=${events} gap_ms=${GAP_MS}]]`,
  promptBytes,
  paceMs: events * GAP_MS,
  minText: events,
  events,
  maxTokens: Math.max(256, events),
});

const SHORT = { events: 50, promptBytes: 1_000 };

/** 64 events that the upstream sends at once. */
const burst = (format: FormatName) => ({
  about: `stream of 64 events in a burst, ${FORMATS[format].path}`,
  format,
  stream: true,
  connections: 32,
  directive: "[[sim tokens=64 burst]]",
  promptBytes: 1_000,
  paceMs: 0,
  minText: 64,
  events: 64,
  maxTokens: 256,
});

/** JSON calls. `promptBytes` leaves space for the rest of the body. */
const json = (bytes: number, promptBytes: number) => ({
  about: `JSON call of ${bytes / 1_024} KB, answer of ${bytes / 1_024} KB`,
  format: "chat" as const,
  stream: false,
  directive: `[[sim bytes=${bytes}]]`,
  promptBytes,
  paceMs: 0,
  events: 0,
  maxTokens: 256,
});

export const CASES: readonly Case[] = [
  {
    name: "json-1k",
    ...json(1_024, 900),
    connections: 32,
    minText: 400,
    rates: true,
    goalRatio: 2.5,
  },
  {
    name: "keys-1k",
    onlyNamed: true,
    ...json(1_024, 900),
    about: "JSON call of 1 KB with an Idempotency-Key of its own",
    connections: 32,
    minText: 400,
    hasKeys: true,
  },
  { name: "json-100k", ...json(102_400, 102_000), connections: 16, minText: 90_000 },
  { name: "burst-64", ...burst("chat"), goalRatio: 0.9 },
  { name: "streams-100", ...paced({ connections: 100, ...SHORT }), goalRatio: 1.3 },
  { name: "streams-1000", ...paced({ connections: 1_000, ...SHORT }), goalRatio: 1.1, goalResidentMb: 220 },
  {
    name: "usual-chats",
    onlyNamed: true,
    ...paced({ connections: 100, events: 400, promptBytes: 4_096 }),
  },
  { name: "messages-64", onlyNamed: true, ...burst("messages") },
  { name: "responses-64", onlyNamed: true, ...burst("responses") },
];

const FILLER = "The river runs under the bridge and the weir measures what it lets through. ";

/** The request body of a case for a target that knows the simulator's model as `model`. */
export function requestBody(benchCase: Case, model: string): string {
  const { directive, format, maxTokens, promptBytes, stream } = benchCase;
  const filler = FILLER.repeat(Math.ceil(promptBytes / FILLER.length)).slice(0, promptBytes);
  return JSON.stringify(
    FORMATS[format].request({ model, text: `${directive} ${filler}`, stream, maxTokens }),
  );
}
