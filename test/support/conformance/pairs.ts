/** Which case runs on which pair, and why not on the others; `test/README.md` prints it. */
import { ANSWERS, type AnswerCase } from "./cases.ts";
import { chatClient, completionsClient } from "./client.chat.ts";
import { generateClient } from "./client.generate.ts";
import { messagesClient } from "./client.messages.ts";
import { responsesClient } from "./client.responses.ts";
import type { Client, ClientName, Feature, Upstream } from "./ends.ts";
import { failuresOf } from "./failures.ts";
import { chatUpstream, responsesUpstream } from "./upstream.openai.ts";
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
];

/** Requests that are refused before any upstream is asked, and an option that only one format knows. */
export const REQUEST_CASES = [
  "an unknown model",
  "a body that is no request",
  "an option of the format's own",
  "strict",
];

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

export interface PairCounts {
  readonly client: ClientName;
  readonly upstream: string;
  readonly answered: number;
  readonly warned: number;
  readonly failed: number;
  readonly refused: number;
}

/** Each counts once whole and once streamed. */
export const MATRIX: readonly PairCounts[] = Object.values(CLIENTS).flatMap((client) =>
  UPSTREAMS.map((upstream) => {
    const answers = answersOf(client);
    const warned = answers.filter((one) => upstreamLack(client, upstream, one) !== undefined).length;
    return {
      client: client.name,
      upstream: upstream.name,
      answered: answers.length - warned,
      warned,
      failed: failuresOf(upstream.name).length,
      refused: REQUEST_CASES.length,
    };
  }),
);
