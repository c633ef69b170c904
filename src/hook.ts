/** What other services call: they sign the bytes of their body, so it is handed on as it came. */
import type { FullAnswer } from "./answer.ts";
import type { HttpHead } from "./http-head.ts";
import type { MaybePromise } from "./maybe-promise.ts";

export interface Hook {
  /** `operationId` in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  /** Of a body; a larger one is 413. */
  readonly maxBytes: number;
  /**
   * @param path parameters of the path
   * @throws WeirError, which the sender reads as on every route
   */
  run(
    bytes: Buffer,
    path: Readonly<Record<string, string>>,
    head: HttpHead,
    requestId: string,
  ): MaybePromise<FullAnswer<never>>;
}
