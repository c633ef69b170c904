/** What the embedded engine refuses, as ClickHouse says it. */

/** An error with ClickHouse's own message: `Code: 60. DB::Exception: …`. */
export class EngineError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** @param code of ClickHouse's errors */
export const exception = (code: number, why: string): EngineError =>
  new EngineError(code, `Code: ${code}. DB::Exception: ${why}`);

/** An error as ClickHouse would report it. @param thrown any error of a statement; one that has no code gets 1002, unknown */
export const asEngineError = (thrown: unknown): EngineError =>
  thrown instanceof EngineError ? thrown : exception(1002, String(thrown));

/**
 * The error that an analyst gets for a statement that the check refuses.
 * @param code of ClickHouse's errors
 * @param why names what is not allowed, such as a function
 */
export const refusal = (code: number, why: string): EngineError =>
  exception(code, `An analyst's statement is refused: ${why}.`);
