/**
 * Tables of what traffic has: a kind of input is said in every client's format, to every dialect, whole and streamed, and each time
 * the same is expected of what arrived upstream and of what the client got.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ask, Heard, Seen } from "../conformance/ask.ts";
import type { ChatUpstreamName, ClientName } from "../conformance/ends.ts";
import { CLIENTS, UPSTREAMS } from "../conformance/pairs.ts";
import { answerOf, type Said } from "./answers.ts";
import { type Field, type Got, modelOf, startField, TARGETS, type TargetName } from "./field.ts";
import type { Arrived } from "./upstream.ts";

/** In no format's words, or in a format's own: an object, or the JSON text itself. `model` and `stream` are added. */
export type Asking = Ask | { readonly [client in ClientName]?: object | string };

export interface Kind {
  readonly name: string;
  readonly ask: Asking;
  /** What the model answers; a short text unless told. */
  readonly answer?: Said;
  /** All that the asking is written for; one in no format's words is not said in completions. */
  readonly clients?: readonly ClientName[];
  /** One of each dialect unless told. */
  readonly targets?: readonly TargetName[];
  /** What is to be so of each exchange; the answer's status was 200 unless `status` says otherwise. */
  readonly check: (exchange: Exchange) => void | Promise<void>;
  readonly status?: number;
}

/** One asking, and what came of it at both ends. */
export interface Exchange {
  readonly client: ClientName;
  readonly target: TargetName;
  readonly dialect: ChatUpstreamName;
  readonly stream: boolean;
  /** The request that arrived upstream. */
  readonly up: Arrived;
  readonly got: Got;
  /** Read from `up` as the dialect has it. */
  readonly seen: Seen;
  /** Read from `got` as the client's format has it, and held to the format's rules. */
  readonly heard: Heard;
  /** A further asking on the same way, such as the next turn with `heard.echo`. */
  ask(asking: Asking, answer?: Said): Promise<Exchange>;
}

const OK: Said = { text: "ok" };
const ONE_OF_EACH: readonly TargetName[] = ["chat", "responses", "messages", "gemini", "converse"];
const MODES = [false, true];

/** To be called at the head of a test file. @param room what the kinds of this table have in common */
export function kinds(room: string, table: readonly Kind[]): void {
  let field: Field;
  beforeAll(async () => {
    field = await startField();
  });
  afterAll(() => field.stop());

  describe(room, () => {
    for (const kind of table) {
      for (const [client, target, stream] of waysOf(kind)) {
        test(`${kind.name}: ${client} to ${target}, ${stream ? "streamed" : "whole"}`, async () => {
          const way = { field, client, target, stream, status: kind.status ?? 200 };
          await kind.check(await exchanged(way, kind.ask, kind.answer ?? OK));
        });
      }
    }
  });
}

const isNeutral = (asking: Asking): asking is Ask => "turns" in asking;

function waysOf({
  ask,
  clients,
  targets = ONE_OF_EACH,
}: Kind): (readonly [ClientName, TargetName, boolean])[] {
  const all = Object.keys(CLIENTS) as ClientName[];
  const from =
    clients ?? all.filter((name) => (isNeutral(ask) ? name !== "completions" : ask[name] !== undefined));
  return from.flatMap((client) =>
    targets.flatMap((target) => MODES.map((stream) => [client, target, stream] as const)),
  );
}

interface Way {
  readonly field: Field;
  readonly client: ClientName;
  readonly target: TargetName;
  readonly stream: boolean;
  readonly status: number;
}

async function exchanged(way: Way, asking: Asking, answer: Said): Promise<Exchange> {
  const { field, client, target, stream, status } = way;
  const { dialect } = TARGETS[target];
  field.up.script(answerOf(dialect, answer, stream));
  const body = isNeutral(asking) ? CLIENTS[client].request(asking, modelOf(target), stream) : asking[client];
  if (body === undefined) throw new Error(`the asking is not written in ${client}`);
  const got = await field.send(client, target, body, { stream });
  expect(got.status, got.text).toBe(status);
  const upstream = UPSTREAMS.find(({ name }) => name === dialect);
  const arrived = field.up.arrived.at(-1);
  const up = (): Arrived => {
    if (arrived === undefined) throw new Error("nothing arrived upstream");
    return arrived;
  };
  return {
    client,
    target,
    dialect,
    stream,
    got,
    get up() {
      return up();
    },
    get seen() {
      return upstream?.seen(up().json) as Seen;
    },
    get heard() {
      return stream ? CLIENTS[client].streamed(got.text) : CLIENTS[client].whole(got.json);
    },
    ask: (next, said = OK) => exchanged({ ...way, status: 200 }, next, said),
  };
}
