/**
 * The official clients in front of a test gateway, unchanged but for base URL and key, and what the simulator saw of them.
 * Every upstream dialect has a model of its own, so that a client's format meets each of them.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect } from "vitest";
import { z } from "zod";
import type { Answer, TestEndpoint } from "../../support/gateway.ts";
import type { SharedGateway } from "../../support/shared-gateway.ts";
import { LIMIT_MS } from "../../support/wait.ts";

export const DIALECTS = ["chat", "responses", "messages", "gemini", "converse"] as const;
export type DialectName = (typeof DIALECTS)[number];

/** The model whose only endpoint speaks this dialect. */
export const modelOf = (dialect: DialectName): string => `weir/sim-${dialect}`;

/** `test/model` is Claude on Bedrock: what a model may be told there depends on its family, which its name tells. */
export const BEDROCK_CLAUDE: TestEndpoint = {
  provider: "bedrock",
  dialects: ["converse"],
  entry: {
    upstream_model: "anthropic.claude-sim",
    capabilities: ["tools", "parallel_tools", "json_schema", "reasoning", "cache"],
  },
};

export const Level = z.object({ gauge: z.string(), metres: z.number(), rising: z.boolean() });

export interface ClientOptions {
  readonly apiKey?: string;
  readonly maxRetries?: number;
}

/** Both clients, and how many HTTP requests they have sent, retries included, and how many were answered with 429. */
export function clientsOf(
  gateway: SharedGateway,
  { apiKey = gateway.liveKey, maxRetries = 0 }: ClientOptions = {},
) {
  const sent = { count: 0, refused: 0 };
  const counted = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    sent.count++;
    const response = await fetch(url, init);
    if (response.status === 429) sent.refused++;
    return response;
  };
  const usual = { apiKey, maxRetries, timeout: LIMIT_MS, fetch: counted };
  return {
    openai: new OpenAI({ ...usual, baseURL: `${gateway.url}/v1` }),
    anthropic: new Anthropic({ ...usual, baseURL: gateway.url }),
    sent,
  };
}

/** A body of any dialect. */
export type Json = Answer["json"];

/** Bodies as the provider received them, oldest first, from the given call on. */
export const bodiesSince = (gateway: SharedGateway, from: number): Json[] =>
  gateway.simulator.calls.slice(from).map(({ body }) => JSON.parse(body.toString()));

/** The last request as the provider received it. */
export const seenUpstream = (gateway: SharedGateway): Json => bodiesSince(gateway, -1)[0];

/** What a call throws. Fails where it does not. */
export async function thrownBy(attempt: PromiseLike<unknown>): Promise<unknown> {
  try {
    await attempt;
  } catch (error) {
    return error;
  }
  return expect.fail("the call succeeded");
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}
