/** Ports: the other cells of an installation, as far as records need them. A gateway alone has none. */

export interface Signals {
  /** Tells all others. @returns false if it cannot be sent now */
  tell(topic: string, content: unknown): boolean;
  tellOne(cell: string, topic: string, content: unknown): boolean;
  on(topic: string, heard: (content: unknown, from: string) => void): void;
  answers(topic: string, answer: (content: unknown, from: string) => Promise<boolean>): void;
  /** Resolves once all others have answered, or after this time. */
  ask(topic: string, content: unknown, withinMs: number): Promise<unknown>;
  onListening(listening: () => void): void;
}

export interface OtherCells {
  readonly signals: Signals;
  /** Resolves once the records that they made before this call are in ClickHouse, or after this time. */
  flush(withinMs: number): Promise<OthersFlushed>;
}

export interface OthersFlushed {
  /** False: a cell that runs did not say in time that its records are there. */
  readonly isDone: boolean;
  /** Calls that ended from then on may be missing, milliseconds since 1970; 0: any may. Undefined: none is. */
  readonly missingSinceMs: number | undefined;
}
