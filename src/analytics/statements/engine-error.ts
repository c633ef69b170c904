/** What the embedded engine refuses, as ClickHouse says it. */

/** An error with ClickHouse's own message: `Code: 60. DB::Exception: …`. */
export class EngineError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The error that an analyst gets for a statement that the check refuses.
 * @param code of ClickHouse's errors
 * @param why names what is not allowed, such as a function
 */
export const refusal = (code: number, why: string): EngineError =>
  new EngineError(code, `Code: ${code}. DB::Exception: An analyst's statement is refused: ${why}.`);
