/** What a case must have an upstream told, and a client hear. */
import type { Ask, AskPart, HeardChoice, Media, Seen, Told } from "../../support/conformance/ask.ts";
import type { Client, Upstream } from "../../support/conformance/ends.ts";

/** Completions have a text and nothing else. */
export const saidIn = (
  client: Client,
  { stop, reasoning, ...said }: Told["choices"][number],
): HeardChoice => ({
  ...said,
  reasoning: client.lacks.thinking === undefined ? reasoning : "",
  stop: client.stops[stop],
});

/** A refusal has a place of its own, or stands in the text under a stop reason that tells, or was withheld whole. */
export const isRefused = ({ text, refusal, stop }: HeardChoice, wanted: string): boolean =>
  (refusal === wanted && text === "") ||
  (refusal === "" && (text === wanted || text === "") && /^(refusal|content_filter)$/.test(stop));

/** What an upstream must have been told of an ask. Turns that were sent back as they came are judged by the upstream. */
export function expected(ask: Ask, client: Client, upstream: Upstream): Partial<Seen> {
  const { turns, tools = [], choosing, schema, stop = [], choices = 1 } = ask;
  const isEchoed = turns.some((turn) => "echo" in turn);
  const parts = turns.flatMap((turn): readonly AskPart[] => ("user" in turn ? turn.user : []));
  const results = turns.flatMap((turn) => ("results" in turn ? turn.results : []));
  const media = (kind: "image" | "document"): Media[] =>
    parts.flatMap((part) => (kind in part ? [(part as Record<string, Media>)[kind] as Media] : []));
  const maxTokens = ask.maxTokens ?? (client.name === "messages" ? 4096 : undefined);
  const isForbidden = choosing === "none";
  return {
    ...(ask.system !== undefined && { system: ask.system }),
    ...(!isEchoed && {
      texts: turns.flatMap(textsOf),
      calls: turns.flatMap((turn) => ("assistant" in turn ? (turn.calls ?? []) : [])),
    }),
    images: [...media("image"), ...results.flatMap(({ image }) => image ?? [])],
    imageUrls: parts.flatMap((part) => ("imageUrl" in part ? [part.imageUrl] : [])),
    documents: media("document"),
    results: results.map(({ id, text, isError = false }) => ({ id, text, isError })),
    ...(!isForbidden && { tools }),
    ...(choosing !== undefined && choosing !== "auto" && !isForbidden && { choosing }),
    schema,
    json: ask.json ?? false,
    temperature: ask.temperature,
    seed: ask.seed,
    stop,
    choices,
    ...(maxTokens !== undefined && { maxTokens }),
    cacheMarks:
      upstream.lacks.cache_marks && client.name !== upstream.name
        ? 0
        : parts.filter((part) => "text" in part && part.isCached).length,
  };
}

function textsOf(turn: Ask["turns"][number]): string[] {
  if ("user" in turn) return turn.user.flatMap((part) => ("text" in part ? part.text : []));
  if ("results" in turn) return turn.said === undefined ? [] : [turn.said];
  return "assistant" in turn && turn.assistant !== "" ? [turn.assistant] : [];
}
