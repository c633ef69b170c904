/** The passage of a request to an endpoint: spliced if the endpoint speaks the client's own dialect, else translated. */
import type { Dialect, Endpoint } from "../base/endpoint.ts";
import { GENERATION_DIALECTS } from "./dialects.ts";
import { embedPassage } from "./embed/passages.ts";
import type { ClientFormat, Passage } from "./format.ts";
import { translated } from "./relay/translate.ts";
import { rerankPassage } from "./rerank/passages.ts";

/** A passage and the upstream's dialect. */
export interface Passable {
  readonly dialect: Dialect;
  readonly passage: Passage;
  /** Bytes are passed on. */
  readonly isSplice: boolean;
}

/** Undefined if no dialect of the endpoint can answer in this format. */
export function passageTo(format: ClientFormat, endpoint: Endpoint): Passable | undefined {
  let ways = known.get(format);
  if (ways === undefined) {
    ways = new Map();
    known.set(format, ways);
  }
  const { dialects } = endpoint;
  const own = format.splice?.dialect;
  if (own !== undefined && dialects.includes(own)) return wayOf(ways, format, own);
  for (const dialect of dialects) {
    const way = wayOf(ways, format, dialect);
    if (way !== undefined) return way;
  }
  return undefined;
}

/** Dialects in which no request of another format is written. */
const SPLICED_ONLY: ReadonlySet<Dialect> = new Set<Dialect>(["completions"]);

/** Whether some dialect of the endpoint can answer in this format; asked of every endpoint of every call. */
export function canAnswer(format: ClientFormat, endpoint: Endpoint): boolean {
  const first = endpoint.dialects[0];
  return first === undefined || !SPLICED_ONLY.has(first) || passageTo(format, endpoint) !== undefined;
}

type Ways = Map<Dialect, Passable | undefined>;

/** Each pair's passage is made once. */
const known = new Map<ClientFormat, Ways>();

function wayOf(ways: Ways, format: ClientFormat, dialect: Dialect): Passable | undefined {
  let way = ways.get(dialect);
  if (way === undefined && !ways.has(dialect)) {
    way = make(format, dialect);
    ways.set(dialect, way);
  }
  return way;
}

function make(format: ClientFormat, dialect: Dialect): Passable | undefined {
  const { splice, generation } = format;
  if (splice?.dialect === dialect) return { dialect, passage: splice.passage, isSplice: true };
  const passage = generation === undefined ? otherTask(format, dialect) : between(generation, dialect);
  return passage && { dialect, passage, isSplice: false };
}

function between(generation: NonNullable<ClientFormat["generation"]>, dialect: Dialect): Passage | undefined {
  const upstream = GENERATION_DIALECTS.get(dialect);
  return upstream && translated(generation, upstream);
}

const otherTask = ({ name, task }: ClientFormat, dialect: Dialect): Passage | undefined =>
  task === "rerank" ? rerankPassage(dialect) : embedPassage(name, dialect);
