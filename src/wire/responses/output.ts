/**
 * The output of a translated response as it grows: items and their contents, each from its beginning to its JSON. Texts are
 * kept, because the last event holds all of them.
 */
import { textOf } from "../fragment.ts";
import { Growing } from "../growing.ts";
import type { Fragment, Seal } from "../neutral.ts";
import type { UrlCitation } from "./citations.ts";
import type { TokenLogprob } from "./objects.ts";

/** A message stays open while texts follow texts. */
export interface OpenMessage {
  readonly id: string;
  readonly index: number;
  /** JSON of its contents, as they end. */
  readonly contents: string[];
  /** Contents that have begun and not ended. */
  open: number;
  /** Something else has begun behind it. */
  isLeft: boolean;
  /** Google's, of its texts: they stand in items of their own behind it. */
  readonly seals: Seal[];
}

/** Head and tail of the deltas of a part, around sequence number and text. */
export interface DeltaFrame {
  readonly head: string;
  readonly middle: string;
  readonly tail: string;
}

interface Growth {
  readonly text: Growing;
  seal: Seal | undefined;
}

export interface OpenText extends Growth {
  readonly kind: "text" | "refusal";
  readonly message: OpenMessage;
  readonly contentIndex: number;
  readonly frame: DeltaFrame;
  readonly annotations: UrlCitation[];
  readonly logprobs: TokenLogprob[];
}

export interface OpenReasoning extends Growth {
  readonly kind: "reasoning";
  readonly id: string;
  readonly index: number;
  readonly isSummary: boolean;
  readonly isRedacted: boolean;
  /** Undefined until text comes. */
  frame: DeltaFrame | undefined;
}

export interface OpenCall extends Growth {
  readonly kind: "tool_call";
  readonly callId: string;
  readonly name: string;
  /** Where it stands; undefined while it waits for what its first event is followed by. */
  place: { readonly id: string; readonly index: number; readonly frame: DeltaFrame } | undefined;
  /** The first of its arguments, while it waits. */
  held: Fragment | undefined;
}

export type OpenPart = OpenText | OpenReasoning | OpenCall;

export const newMessage = (id: string, index: number): OpenMessage => ({
  id,
  index,
  contents: [],
  open: 0,
  isLeft: false,
  seals: [],
});

export const newCall = (callId: string, name: string): OpenCall => ({
  kind: "tool_call",
  callId,
  name,
  text: new Growing(),
  seal: undefined,
  place: undefined,
  held: undefined,
});

/** How long a text is in characters, as positions in it are counted. */
export const lengthOf = (part: OpenText): number => textOf(part.text.text()).length;
