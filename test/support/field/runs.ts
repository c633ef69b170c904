/**
 * Calls of which each has a model of its own at a scripted upstream, so that what happened to one spares no endpoint the next: the failures
 * of providers, in any order and at once. A second endpoint of the model answers with a text.
 */
import type { Json } from "../conformance/ask.ts";
import type { ChatUpstreamName, ClientName } from "../conformance/ends.ts";
import { CLIENTS } from "../conformance/pairs.ts";
import type { Answer, TestEndpoint, TestGateway } from "../gateway.ts";
import { attemptsOf, charges, recordOf, requestIdOf } from "../observations.ts";
import { answerOf } from "./answers.ts";
import type { Arrived, Scripted, ScriptedUpstream } from "./upstream.ts";

export interface Run {
  readonly name: string;
  readonly dialect: ChatUpstreamName;
  readonly client: ClientName;
  readonly stream: boolean;
  /** The request offers a tool `f`. */
  readonly hasTools?: boolean;
  /** There is another endpoint, which is asked second. */
  readonly isHelped?: boolean;
  readonly script: Scripted;
}

export interface Seen {
  readonly answer: Answer;
  readonly record: Json;
  readonly attempts: readonly string[];
  /** Micro-USD, negative; undefined where nothing was charged. */
  readonly charged: readonly number[] | undefined;
  readonly client: ClientName;
}

/** What a second endpoint answers. */
export const HELP = "All of the answer.";

const TOOL = { name: "f", description: "Does.", parameters: { type: "object", properties: {} } };

/** @param at the run's number */
export function endpointsOf(
  { url }: ScriptedUpstream,
  { dialect, isHelped }: Run,
  at: number,
): TestEndpoint[] {
  const first = {
    model: `test/run-${at}`,
    provider: `run-${at}`,
    baseUrl: `${url}/${at}/${dialect === "gemini" ? "v1beta" : "v1"}`,
    dialects: [dialect],
  };
  if (isHelped !== true) return [first];
  // The dearer one is asked first once in a million times.
  const baseUrl = first.baseUrl.replace(/(?=\/v1)/, "/second");
  return [
    { ...first, price: { input: 0.001, output: 0.001 } },
    { ...first, provider: `run-${at}-second`, baseUrl, price: { input: 1, output: 1 } },
  ];
}

/** What the upstream answers to a request of one of these runs. */
export function scriptedOf(runs: readonly Run[], { url }: Arrived): Scripted {
  const { dialect, script, stream } = runs[Number(url.split("/")[1])] as Run;
  return url.includes("/second/") ? answerOf(dialect, { text: HELP }, stream) : script;
}

/** Makes a run's call. @param at the run's number */
export async function make(gateway: TestGateway, run: Run, at: number): Promise<Seen> {
  const { client, stream, hasTools } = run;
  const { path, headers, request } = CLIENTS[client];
  const ask = { turns: [{ user: [{ text: "Hi" }] }], ...(hasTools && { tools: [TOOL] }) };
  const answer = await gateway.call("POST", path, { body: request(ask, `test/run-${at}`, stream), headers });
  const id = requestIdOf(answer);
  const record = await recordOf(gateway, id);
  const charged = (await charges(gateway)).get(id);
  return { answer, record, attempts: attemptsOf(record), charged, client };
}

/** Makes all runs, some at a time. @param one makes the run of a number */
export async function makeAll(
  count: number,
  atOnce: number,
  one: (at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await one(next++);
    }),
  );
}
