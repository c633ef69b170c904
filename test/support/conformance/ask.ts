/**
 * What a conformance case asks for and what comes of it, in no format's own words: `Ask` is said by a client, `Seen` is
 * what the upstream was told, `Told` what the upstream answered, `Heard` what reached the client.
 */
import type { Answer } from "../gateway.ts";

/** Bodies of every format, read as they come. */
export type Json = Answer["json"];

/** Base64. */
export interface Media {
  readonly mediaType: string;
  readonly data: string;
}

export type AskPart =
  | { readonly text: string; readonly isCached?: boolean }
  | { readonly image: Media }
  | { readonly imageUrl: string }
  | { readonly document: Media };

export interface Call {
  readonly id: string;
  readonly name: string;
  /** Parsed: dialects that say it as JSON text differ in white space. */
  readonly arguments: unknown;
}

export interface Result {
  readonly id: string;
  readonly text: string;
  readonly image?: Media;
  readonly isError?: boolean;
}

export type Turn =
  | { readonly user: readonly AskPart[] }
  | { readonly assistant: string; readonly calls?: readonly Call[] }
  /** What tools returned, and what the user says with it. */
  | { readonly results: readonly Result[]; readonly said?: string }
  /** An answer sent back as this client's format has it. */
  | { readonly echo: readonly Json[] };

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type Choosing = "auto" | "none" | "required" | { readonly name: string };

export interface Ask {
  readonly system?: string;
  readonly turns: readonly Turn[];
  readonly tools?: readonly Tool[];
  readonly choosing?: Choosing;
  readonly parallel?: boolean;
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Any JSON object. */
  readonly json?: boolean;
  readonly temperature?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly maxTokens?: number;
  readonly choices?: number;
  /** Asks for reasoning and to be shown it. */
  readonly thinks?: boolean;
  /** With the option that no other format knows: `Client.own`. */
  readonly own?: boolean;
  readonly strict?: boolean;
  /** The one provider that may be asked. */
  readonly only?: string;
}

/** As the neutral contract counts: what was read from and written to the cache is part of the input. */
export interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

export type StopWord = "stop" | "stop_sequence" | "length" | "tool_calls" | "refusal" | "content_filter";

export interface Said {
  readonly text: string;
  readonly refusal: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
}

/** What the upstream answered, from its own body. */
export interface Told {
  readonly choices: readonly (Said & { readonly stop: StopWord })[];
  /** Undefined where it reported none. */
  readonly usage: Counts | undefined;
  /** What it signed and sealed, in the order of {@link Seen.seals}. */
  readonly seals: readonly string[];
}

/** The `svc` object, or what stands for it in the native format. */
export interface Svc {
  readonly requestId: string;
  readonly provider: string;
  readonly endpointId: string;
  readonly cost: Json;
  readonly warnings: readonly string[];
}

export interface HeardChoice extends Said {
  /** In the format's own words. */
  readonly stop: string;
}

export interface Heard {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly HeardChoice[];
  readonly usage: Counts;
  readonly svc: Svc;
  /** The answer as the client sends it back in its next request. */
  readonly echo: readonly Json[];
}

/** What the upstream was told. */
export interface Seen {
  readonly system: string;
  /** What user and assistant said, in order, results of tools left out. */
  readonly texts: readonly string[];
  readonly images: readonly Media[];
  readonly imageUrls: readonly string[];
  readonly documents: readonly Media[];
  readonly calls: readonly Call[];
  readonly results: readonly { readonly id: string; readonly text: string; readonly isError: boolean }[];
  /** Signatures and sealed reasoning that came back, to the byte. */
  readonly seals: readonly string[];
  readonly tools: readonly Tool[];
  readonly choosing: Choosing | undefined;
  readonly schema: unknown;
  readonly json: boolean;
  readonly temperature: number | undefined;
  readonly seed: number | undefined;
  readonly stop: readonly string[];
  readonly maxTokens: number | undefined;
  readonly choices: number;
  readonly cacheMarks: number;
}

/** Our own options, as they stand under `svc` or, in the native format, beside the messages. */
export const ourOptions = ({ strict, only }: Ask) => ({
  ...(strict && { compat: { strict } }),
  ...(only !== undefined && { route: { providers: { only: [only] } } }),
});

/** The `svc` member with them, where there are any. */
export function svcMember(ask: Ask): { svc?: object } {
  const svc = ourOptions(ask);
  return Object.keys(svc).length === 0 ? {} : { svc };
}

/** JSON text of a call's arguments; what is no JSON fails the test that reads it. */
export const parsedArguments = (text: string): unknown => JSON.parse(text);

export const dataUrl = ({ mediaType, data }: Media): string => `data:${mediaType};base64,${data}`;

/** The other way round; undefined for an address that is none. */
export function mediaOf(url: string): Media | undefined {
  const match = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return match === null ? undefined : { mediaType: match[1] ?? "", data: match[2] ?? "" };
}

export interface SseEvent {
  readonly name: string;
  readonly data: string;
}

/** The events of a stream, read by the standard: any line end, comments passed over. */
export function sseEvents(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  let name = "";
  let data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === "") {
      if (data.length > 0) events.push({ name, data: data.join("\n") });
      name = "";
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    else if (line.startsWith("event:")) name = line.slice(6).trim();
  }
  return events;
}
