/**
 * The output of a translated response while it is streamed: items and their contents, from their beginning to their JSON.
 * Texts are kept, because the last event contains all of them.
 */

import { Growing } from "../json/growing.ts";
import { textOf } from "../neutral/fragment.ts";
import type { Fragment, Seal, StreamEvent, ToolKind } from "../neutral/neutral.ts";
import { objectIn } from "../neutral/tool-arguments.ts";
import { CALL_DELTAS } from "./calls.ts";
import type { UrlCitation } from "./citations.ts";
import {
  around,
  type EventFields,
  type EventType,
  eventRest,
  type OfContent,
  type TokenLogprob,
} from "./objects.ts";

/** A message stays open while only texts follow. */
export interface OpenMessage {
  readonly id: string;
  readonly index: number;
  /** JSON of the contents that have ended. */
  readonly contents: string[];
  /** Contents that have begun and not ended. */
  open: number;
  /** Another item has begun after it. */
  isLeft: boolean;
  /** Google's seals of its texts: written as items of their own after it. */
  readonly seals: Seal[];
}

/** The JSON of a part's deltas around sequence number and text. */
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
  readonly place: OfContent;
  /** Undefined in a whole answer. */
  readonly frame: DeltaFrame | undefined;
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
  readonly tool: ToolKind | undefined;
  readonly namespace: string | undefined;
  /** Its index in the output; undefined while it waits for the event after its first. */
  place: { readonly id: string; readonly index: number; readonly frame: DeltaFrame | undefined } | undefined;
  /** The first of its arguments, while it waits. */
  held: Fragment | undefined;
}

type BegunCall = Extract<StreamEvent, { kind: "tool_call" }>;

export type OpenPart = OpenText | OpenReasoning | OpenCall;

export const newCall = ({ id, name, tool, namespace }: BegunCall): OpenCall => ({
  kind: "tool_call",
  callId: id,
  name,
  tool,
  namespace,
  text: new Growing(),
  seal: undefined,
  place: undefined,
  held: undefined,
});

/**
 * Whether a call has all it is called with, so that nothing of it is cut off. A text in free form does not say, and an empty object may
 * stand for arguments that have not begun.
 */
export function isWholeCall({ tool, text }: OpenCall): boolean {
  const given = textOf(text.text());
  return tool !== "custom" && !/^\s*\{\s*\}\s*$/.test(given) && objectIn(given) !== undefined;
}

/** Length of a text in characters, the unit of positions in it. */
export const lengthOf = (part: OpenText): number => textOf(part.text.text()).length;

/** The frame of an event with an empty delta. */
function frameOf<T extends EventType>(type: T, fields: EventFields[T]): DeltaFrame {
  const [middle, tail] = around(eventRest(type, fields), "delta");
  return {
    head: `event: ${type}\ndata: {"type":"${type}","sequence_number":`,
    middle: `,${middle}`,
    tail: `${tail}\n\n`,
  };
}

/** The frame of a call's deltas; undefined of kinds that have none. */
export const callFrame = (
  tool: ToolKind | "function_call",
  id: string,
  index: number,
): DeltaFrame | undefined =>
  tool === "function_call" || tool === "custom"
    ? frameOf(CALL_DELTAS[tool], { item_id: id, output_index: index, delta: "" })
    : undefined;

/** The frame of a text's deltas. */
export const textFrame = (kind: "text" | "refusal", place: OfContent): DeltaFrame =>
  kind === "text"
    ? frameOf("response.output_text.delta", { ...place, delta: "", logprobs: [] })
    : frameOf("response.refusal.delta", { ...place, delta: "" });

/** An event's type, and its JSON after its sequence number. */
type WrittenEvent = readonly [type: EventType, rest: string];

const written = <T extends EventType>(type: T, fields: EventFields[T]): WrittenEvent => [
  type,
  eventRest(type, fields),
];

const SUMMARY = { type: "summary_text" as const, text: "" };
const CONTENT = { type: "reasoning_text" as const, text: "" };

/** How the text of a reasoning begins. */
export function reasoningBegun({ id, index, isSummary }: OpenReasoning): {
  readonly added: WrittenEvent;
  readonly frame: DeltaFrame;
} {
  const place = { item_id: id, output_index: index };
  if (isSummary) {
    const fields = { ...place, summary_index: 0 };
    return {
      added: written("response.reasoning_summary_part.added", { ...fields, part: SUMMARY }),
      frame: frameOf("response.reasoning_summary_text.delta", { ...fields, delta: "" }),
    };
  }
  const fields = { ...place, content_index: 0 };
  return {
    added: written("response.content_part.added", { ...fields, part: CONTENT }),
    frame: frameOf("response.reasoning_text.delta", { ...fields, delta: "" }),
  };
}

/** How it ends; the text itself is still to be filled in. */
export function reasoningEnded({ id, index, isSummary }: OpenReasoning): readonly WrittenEvent[] {
  const place = { item_id: id, output_index: index };
  if (isSummary) {
    const fields = { ...place, summary_index: 0 };
    return [
      written("response.reasoning_summary_text.done", { ...fields, text: "" }),
      written("response.reasoning_summary_part.done", { ...fields, part: SUMMARY }),
    ];
  }
  const fields = { ...place, content_index: 0 };
  return [
    written("response.reasoning_text.done", { ...fields, text: "" }),
    written("response.content_part.done", { ...fields, part: CONTENT }),
  ];
}
