/** What the embedded engine refuses, as ClickHouse says it. */

/** An error with ClickHouse's own message: `Code: 60. DB::Exception: …`. */
export class EngineError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
