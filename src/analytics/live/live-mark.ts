/** What is told of a call before it has ended: that it has begun, or that its first content is sent. */
import { z } from "zod";
import { eventText } from "../../base/operation/event-stream.ts";
import type { OfOrg } from "../tail/org-feed.ts";
import type { RowCodec } from "../tail/org-relay.ts";
import { firstTokenWire, startedWire } from "./live-wire.ts";
import type { RunningCall } from "./running-call.ts";

export type MarkKind = "started" | "firstToken";

export class LiveMark implements OfOrg {
  readonly kind: MarkKind;
  readonly call: RunningCall;
  #text: string | undefined;

  constructor(kind: MarkKind, call: RunningCall) {
    this.kind = kind;
    this.call = call;
  }

  get orgId(): string {
    return this.call.orgId;
  }

  /** As an event; made once for all who get it. It has no id: it moves nobody's position. */
  get text(): string {
    this.#text ??=
      this.kind === "started"
        ? eventText(startedWire(this.call), { event: "call.started" })
        : eventText(firstTokenWire(this.call), { event: "call.first_token" });
    return this.#text;
  }
}

const word = z.string().max(300);

/** A call as one cell tells it another. */
export const packedCall = z.object({
  requestId: z.string().max(26),
  orgId: z.string().max(100),
  projectId: z.string().max(100),
  keyId: z.string().max(100),
  environment: z.enum(["live", "test"]),
  appId: word,
  model: word,
  isStream: z.boolean(),
  // A gateway of an earlier release, during an update, has no such calls.
  isDetached: z.boolean().default(false),
  startedAtMs: z.int().min(0).max(8_000_000_000_000),
  provider: word,
  endpointId: word,
  ttftMs: z.number().min(0),
});

const packedMark = z.object({ kind: z.enum(["started", "firstToken"]), call: packedCall });

export const MARKS: RowCodec<LiveMark> = {
  topic: "live",
  pack: ({ kind, call }) => ({ kind, call }),
  unpack(orgId, packed) {
    const read = packedMark.safeParse(packed);
    if (!read.success || read.data.call.orgId !== orgId) return undefined;
    return new LiveMark(read.data.kind, read.data.call);
  },
};
