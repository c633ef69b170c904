/** What the embedded engine refuses, as ClickHouse says it. */

/** An error with ClickHouse's own message: `Code: 60. DB::Exception: …`. */
export class EngineError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The error that refuses an analyst's statement. @param why what is not allowed, by its name */
export const refusal = (code: number, why: string): EngineError =>
  new EngineError(code, `Code: ${code}. DB::Exception: An analyst's statement is refused: ${why}.`);
