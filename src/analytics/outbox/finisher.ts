/** Port: converts outbox rows into rows of ClickHouse, off the event loop. The worker pool implements it. */
import type { Redaction } from "../../record/record.ts";

interface FinishInput {
  /** All rows, one after another. The buffer is transferred: the caller must not use it again. */
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
  /** RowBinary columns to append to each row of `requests`. */
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
  /** Indexes of rows that cannot be decoded. */
  readonly undecodable: readonly number[];
}

export interface Finisher {
  finish(input: FinishInput): Promise<Finished>;
  /** Redacts a payload. @throws if it cannot be redacted */
  redactPayload(redaction: Redaction, parts: readonly Uint8Array[]): Promise<Uint8Array[]>;
}
