/** Which case runs on which pair, and why not on the others; `test/gateway/conformance/matrix.md` prints it. */
import { PART_VARIABLE, type PartName, partOf } from "../../../scripts/test-run/lanes.ts";
import { ANSWERS, type AnswerCase } from "./cases.ts";
import { chatClient, completionsClient } from "./client.chat.ts";
import { generateClient } from "./client.generate.ts";
import { messagesClient } from "./client.messages.ts";
import { responsesClient } from "./client.responses.ts";
import type { Client, ClientName, Feature, Upstream, UpstreamName } from "./ends.ts";
import { type FailureCase, failuresOf } from "./failures.ts";
import { chatUpstream, completionsUpstream, responsesUpstream } from "./upstream.openai.ts";
import { converseUpstream, geminiUpstream, messagesUpstream } from "./upstream.others.ts";

export const CLIENTS: Readonly<Record<ClientName, Client>> = {
  chat: chatClient,
  completions: completionsClient,
  responses: responsesClient,
  messages: messagesClient,
  generate: generateClient,
};

export const UPSTREAMS: readonly Upstream[] = [
  chatUpstream,
  responsesUpstream,
  messagesUpstream,
  geminiUpstream,
  converseUpstream,
  completionsUpstream,
];

/** The dialects that calls of a client's format may go out in. */
export const upstreamsOf = (client: ClientName): readonly Upstream[] =>
  UPSTREAMS.filter(({ only }) => only === undefined || only === client);

/**
 * Pairs that `npm test` runs: each format that is a dialect too to itself, each format to a dialect that is not its own, and each
 * dialect from a format that is not its own. A format is read and written, and a dialect told and heard, by code that knows no other
 * end, so these run all of it; the pairs beside them are where an end has no place for what the other one says.
 */
const CHOSEN: Readonly<Record<ClientName, readonly UpstreamName[]>> = {
  chat: ["chat", "messages"],
  completions: ["completions", "responses"],
  responses: ["responses", "gemini"],
  messages: ["messages", "converse"],
  generate: ["chat"],
};

export const isChosen = (client: ClientName, upstream: UpstreamName): boolean =>
  CHOSEN[client].includes(upstream);

/** The dialects that a part of the tests runs with this format. */
export function upstreamsIn(part: PartName, client: ClientName): readonly Upstream[] {
  return upstreamsOf(client).filter(
    ({ name }) => part === "all" || isChosen(client, name) === (part === "quick"),
  );
}

/** The part of the tests that this run runs. */
export const PART = partOf(process.env[PART_VARIABLE]);

/** An option that only one format knows. */
export const OPTION_CASES = ["an option of the format's own", "strict"];
/** Requests that are refused before any upstream is asked: once for each format. */
export const REFUSED_CASES = ["an unknown model", "a body that is no request"];

export const clientLack = ({ lacks }: Client, { needs }: AnswerCase): Feature | undefined =>
  needs.find((feature) => lacks[feature] !== undefined);

/** Where both ends speak the same, bytes pass: nothing is lacking. */
export const upstreamLack = (
  client: Client,
  { lacks, name }: Upstream,
  { needs }: AnswerCase,
): Feature | undefined =>
  client.name === name ? undefined : needs.find((feature) => lacks[feature] !== undefined);

/** Cases that the client can say; where the upstream has no place for it, the case is that the client is told so. */
export const answersOf = (client: Client): readonly AnswerCase[] =>
  ANSWERS.filter((one) => clientLack(client, one) === undefined);

/**
 * What one end alone reads, before anything of the other end's is known, is a case of the chosen pairs: each end is in one, and any
 * further pair would say the same.
 */
const meets = (
  { isOfOneEnd }: AnswerCase | FailureCase,
  client: ClientName,
  upstream: UpstreamName,
): boolean => isOfOneEnd !== true || isChosen(client, upstream);

/** What is asked on this pair. */
export const answersOn = (client: Client, { name }: Upstream): readonly AnswerCase[] =>
  answersOf(client).filter((one) => meets(one, client.name, name));

/** What fails on this pair. */
export const failuresOn = (client: Client, { name }: Upstream): readonly FailureCase[] =>
  failuresOf(name).filter((failure) => meets(failure, client.name, name));

export interface PairCounts {
  readonly client: ClientName;
  readonly upstream: UpstreamName;
  readonly answered: number;
  readonly warned: number;
  readonly failed: number;
  readonly options: number;
}

/** Each counts once whole and once streamed. */
export const MATRIX: readonly PairCounts[] = Object.values(CLIENTS).flatMap((client) =>
  upstreamsOf(client.name).map((upstream) => {
    const answers = answersOn(client, upstream);
    const warned = answers.filter((one) => upstreamLack(client, upstream, one) !== undefined).length;
    return {
      client: client.name,
      upstream: upstream.name,
      answered: answers.length - warned,
      warned,
      failed: failuresOn(client, upstream).length,
      options: OPTION_CASES.length,
    };
  }),
);
