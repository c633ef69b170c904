/** What `weir.yaml` says of model calls. Units are the ends of the names. */
import { z } from "zod";
import type { ByokFee } from "../../base/usage.ts";

const count = z.int().nonnegative();
const positive = z.int().positive();

/** Under `limits`. */
export const callLimitFields = {
  /** Default for a request without `max_tokens`, if the endpoint allows as much. */
  default_max_tokens: positive.default(4096),
  /** `hold: fit` limits no answer to fewer tokens, above its thinking budget. */
  min_fit_tokens: positive.default(1024),
  /** Concurrent calls that wait for what other calls hold (`hold_wait_ms`), and those of one org. */
  max_hold_waits: count.default(1000),
  max_hold_waits_of_org: count.default(100),
  /** A longer upstream event or line ends the stream. */
  max_event_bytes: positive.default(8 * 1024 * 1024),
  max_reply_bytes: positive.default(64 * 1024 * 1024),
  /** Bytes stored of each request and each answer in the record. */
  max_payload_bytes: count.default(64 * 1024),
  /** Concurrent calls read to their end after the client disconnected (`on_disconnect: drain`). */
  max_drains: count.default(256),
  /** Bytes of events that are kept of one detached call (`on_disconnect: detach`), and of all of an org: beyond them the oldest go. */
  max_detached_call_bytes: positive.min(64 * 1024).default(16 * 1024 * 1024),
  max_detached_org_bytes: positive.min(64 * 1024).default(256 * 1024 * 1024),
  /** Concurrent copies of calls to shadow endpoints of routing policies. */
  max_shadows: count.default(64),
  /** False: orgs pay for their copies, whatever their policies say. */
  platform_shadows: z.boolean().default(true),
};

/** Under `timeouts`. */
export const callTimeoutFields = {
  /** Silence of an upstream that may be at work: before its first content, while it thinks, between items, in a call. */
  first_byte_ms: positive.default(300_000),
  /** Silence in the middle of a text, of a whole answer or of an error. */
  stall_ms: positive.default(30_000),
  /** All attempts of a call together. */
  total_ms: positive.default(900_000),
  /** Silence towards the client before a comment line is sent; 0 switches them off. */
  keep_alive_ms: count.default(10_000),
  drain_ms: positive.default(120_000),
  /** Maximum wait of an answer for the commit of its charge while the disk does not accept writes. */
  commit_ms: positive.default(30_000),
};

/** Pictures and documents by address, for dialects that take only data. */
export const mediaFetchField = z
  .strictObject({
    /** False: such a request is refused. */
    enabled: z.boolean().default(false),
    /** Ranges of addresses that the gateway may fetch from, beside public ones. Any org that calls a model can then read what answers there. */
    allow: z
      .array(z.union([z.cidrv4(), z.cidrv6()]))
      .max(256)
      .default([]),
    /** Bytes that one address may stand for. */
    max_bytes: positive.max(64 * 1024 * 1024).default(20 * 1024 * 1024),
    /** Bytes of base64 that all addresses of a call may stand for. */
    max_call_bytes: positive.default(32 * 1024 * 1024),
    /** Bytes of base64 for all calls under way together; one org gets half. */
    max_under_way_bytes: positive.default(256 * 1024 * 1024),
    /** For all addresses of a call together. */
    timeout_ms: positive.default(10_000),
  })
  .prefault({});

/** Fee for a call answered with an org's own provider key: one line of cost for both parts. */
export const byokField = z
  .strictObject({
    /** Share of what the call would have cost, in basis points. */
    fee_bps: count.max(10_000).default(500),
    /** Added to it for every call. */
    fee_micro_per_request: count.max(1_000_000_000).default(0),
  })
  .prefault({});

type Output<Fields extends z.core.$ZodLooseShape> = z.output<z.ZodObject<Fields>>;

export interface CallSettings {
  readonly limits: Readonly<Output<typeof callLimitFields>> & {
    readonly max_body_bytes: number;
    readonly max_stored_answer_bytes: number;
  };
  readonly timeouts: Readonly<Output<typeof callTimeoutFields>>;
  readonly byok: Readonly<z.output<typeof byokField>>;
  readonly media_fetch: Readonly<z.output<typeof mediaFetchField>>;
}

export const byokFeeOf = ({ byok }: Pick<CallSettings, "byok">): ByokFee => ({
  bps: byok.fee_bps,
  microUsdPerRequest: byok.fee_micro_per_request,
});
