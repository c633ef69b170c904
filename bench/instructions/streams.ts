/** What is called, and the reads in which the upstream answers it: the simulator's own answers, taken before anything is counted. */
import { once } from "node:events";
import type { Simulator } from "../../simulator/simulator.ts";
import { CASES, type Case, requestBody, UPSTREAM_MODEL } from "../cases.ts";
import { type Content, readContent } from "../fidelity.ts";
import { connectTcp } from "./upstream.ts";

export type CallKind = "json-1k" | "burst-64" | "stream-16" | "stream-272";

/** Events of two streams, each in a read of its own: what the longer one costs more is the cost of the events between. */
export const SHORT_EVENTS = 16;
export const LONG_EVENTS = 272;

/** What a connection reads at once, at most: `src/inference/upstream` has a buffer of that size. */
const READ_BYTES = 32 * 1024;
/** A chunk of the simulator's is an event, and ends the line of its own framing. */
const CHUNK_END = /(?<=\n\n\r\n)/;

export interface CalledKind {
  readonly kind: CallKind;
  /** The body that clients send. */
  readonly body: string;
  /** What the answer says. */
  readonly content: Content;
  readonly reads: readonly Uint8Array[];
}

const caseOf = (name: string): Case => {
  const found = CASES.find((known) => known.name === name);
  if (found === undefined) throw new Error(`bench/cases.ts has no case ${name}`);
  return found;
};

const streamOf = (events: number): Case => ({
  ...caseOf("burst-64"),
  directive: `[[sim tokens=${events} burst]]`,
  maxTokens: 2 * events,
});

const KINDS: readonly (readonly [CallKind, Case, boolean])[] = [
  ["json-1k", caseOf("json-1k"), false],
  ["burst-64", caseOf("burst-64"), false],
  ["stream-16", streamOf(SHORT_EVENTS), true],
  ["stream-272", streamOf(LONG_EVENTS), true],
];

/** @throws Error where the simulator does not answer as the gateway is to read it */
export async function calledKinds(simulator: Simulator, model: string): Promise<CalledKind[]> {
  const port = Number(new URL(simulator.url).port);
  return await Promise.all(
    KINDS.map(async ([kind, benchCase, isSplit]) => {
      const answer = await recorded(port, benchCase);
      const reads = isSplit
        ? answer.split(CHUNK_END)
        : Array.from({ length: Math.ceil(answer.length / READ_BYTES) }, (_, i) =>
            answer.slice(i * READ_BYTES, (i + 1) * READ_BYTES),
          );
      const content = readContent(contentOf(answer), benchCase.stream, benchCase.format);
      return {
        kind,
        content,
        body: requestBody(benchCase, model),
        reads: reads.map((read) => Buffer.from(read, "latin1")),
      };
    }),
  );
}

/** The bytes of the simulator's answer as latin1: all of what its connection brings, which stays open for the gateway's calls. */
async function recorded(port: number, benchCase: Case): Promise<string> {
  const asked = JSON.parse(requestBody(benchCase, UPSTREAM_MODEL));
  const body = JSON.stringify(
    benchCase.stream ? { ...asked, stream_options: { include_usage: true } } : asked,
  );
  const socket = connectTcp(port);
  let answer = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    answer += text;
  });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: simulator\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  await once(socket, "end");
  socket.destroy();
  return answer.replace(/^connection: close\r\n/im, "");
}

/** Without head and framing of chunks. */
const contentOf = (answer: string): string =>
  answer.slice(answer.indexOf("\r\n\r\n") + 4).replace(/^[\da-f]+\r\n|\r\n$/gm, "");
