/** Port: what turns outbox rows into rows of ClickHouse, off the event loop. The worker pool fills it. */

export interface FinishInput {
  /** All rows, one after the other; taken over by the call. */
  readonly bytes: Uint8Array;
  readonly lengths: Uint32Array;
  readonly layouts: Readonly<Record<number, RowNames>>;
}

interface RowNames {
  readonly record: readonly string[];
  readonly usage: readonly string[];
  readonly cost: readonly string[];
  readonly line: readonly string[];
  readonly attempt: readonly string[];
}

export interface TableRows {
  /** Names for `INSERT INTO t (…) FORMAT RowBinary`. */
  readonly columns: string;
  readonly bytes: Uint8Array;
  readonly rows: number;
}

export interface Finished {
  readonly requests: TableRows;
  readonly payloads: TableRows;
  readonly payloadsLost: number;
  /** Positions of rows that cannot be decoded. */
  readonly undecodable: readonly number[];
}

export interface Finisher {
  finish(input: FinishInput): Promise<Finished>;
  /** A payload as it may be shown: redacted. @throws where it cannot be. */
  redactPayload(
    redactions: { readonly presets: readonly string[]; readonly patterns: readonly string[] },
    parts: readonly Uint8Array[],
  ): Promise<Uint8Array[]>;
}
