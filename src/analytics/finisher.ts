/** Port: what turns outbox rows into rows of ClickHouse, off the event loop. The worker pool fills it. */
import type { Redaction } from "../record.ts";

interface FinishInput {
  /** All rows, one after the other; taken over by the call. */
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
  /** RowBinary that ends each row of `requests`. */
  readonly tail?: Uint8Array;
}

interface FinishedRows {
  /** RowBinary. */
  readonly bytes: Uint8Array;
  readonly rows: number;
}

interface Finished {
  readonly requests: FinishedRows;
  readonly payloads: FinishedRows;
  readonly payloadsLost: number;
  /** Positions of rows that cannot be decoded. */
  readonly undecodable: readonly number[];
}

export interface Finisher {
  finish(input: FinishInput): Promise<Finished>;
  /** A payload as it may be shown: redacted. @throws where it cannot be. */
  redactPayload(redaction: Redaction, parts: readonly Uint8Array[]): Promise<Uint8Array[]>;
}
