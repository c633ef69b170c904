/** Webhooks: other services sign the bytes of their body, so it is passed on unchanged. */

import type { z } from "zod";
import type { MaybePromise } from "../maybe-promise.ts";
import type { FullAnswer } from "./answer.ts";
import type { HttpHead } from "./http-head.ts";
import type { Place } from "./operation.ts";

/** By POST, and open to everybody: the hook itself authenticates the sender. */
export interface Hook extends Omit<Place, "access"> {
  /** `operationId` in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  /** Parameters of the path: a member for each. */
  readonly params?: z.ZodType;
  /** Maximum size of a body; a larger one gets 413. */
  readonly maxBytes: number;
  /** @param params of the path @throws WeirError, answered as on every route */
  run(
    bytes: Buffer,
    params: Readonly<Record<string, string>>,
    head: HttpHead,
    requestId: string,
  ): MaybePromise<FullAnswer<never>>;
}
