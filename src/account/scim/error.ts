/**
 * Failures of SCIM requests and their body (RFC 7644 section 3.12), which is not the envelope of the other routes.
 * A detail is written for the client, holds no secret and never repeats a value that was sent.
 */
import { asWeirError, type ErrorName, WeirError } from "../../base/errors.ts";

export const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";

/** RFC 7644 table 9, as far as this service sends them. */
export const SCIM_TYPES = [
  "invalidFilter",
  "invalidPath",
  "invalidSyntax",
  "invalidValue",
  "mutability",
  "noTarget",
  "tooMany",
  "uniqueness",
] as const;
export type ScimType = (typeof SCIM_TYPES)[number];

/** A WeirError, so that what handles those of other routes keeps its status; its body is {@link scimErrorText}. */
export class ScimError extends WeirError {
  readonly scimType: ScimType | undefined;
  readonly detail: string;

  constructor(status: number, scimType: ScimType | undefined, detail: string) {
    const text = detail.length > MAX_DETAIL_CHARS ? `${detail.slice(0, MAX_DETAIL_CHARS)}…` : detail;
    super(kindOf(status), text, { status });
    this.name = "ScimError";
    this.scimType = scimType;
    this.detail = text;
  }
}

/** The nearest row of the error table; the status of the answer is the error's own. */
function kindOf(status: number): ErrorName {
  if (status >= 500) return "internal";
  if (status === 403) return "role";
  if (status === 404) return "not_found";
  return status === 400 ? "invalid_value" : "state";
}

/** Details may name an attribute as it was sent. */
const MAX_DETAIL_CHARS = 500;

/** A failure with a keyword, for `throw scimFail(...)`. Its status is 409 for `uniqueness`, otherwise 400. */
export function scimFail(scimType: ScimType, detail: string): ScimError {
  return withoutStack(() => new ScimError(scimType === "uniqueness" ? 409 : 400, scimType, detail));
}

/** A failure that has no keyword, such as 404 or 412. @param status HTTP status, 400 to 599 */
export function scimStatus(status: number, detail: string): ScimError {
  return withoutStack(() => new ScimError(status, undefined, detail));
}

/** Capturing a stack costs more than refusing the request. */
function withoutStack(make: () => ScimError): ScimError {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = make();
  Error.stackTraceLimit = limit;
  return error;
}

/** Converts any thrown value: failures of other rooms keep status and message, unknown ones become a 500 without details. */
export function asScimError(thrown: unknown): ScimError {
  if (thrown instanceof ScimError) return thrown;
  const { kind, status, message } = asWeirError(thrown);
  if (kind === "invalid_json") return scimFail("invalidSyntax", message);
  return kind === "invalid_value" ? scimFail("invalidValue", message) : scimStatus(status, message);
}

export interface ScimErrorBody {
  readonly schemas: readonly [typeof ERROR_SCHEMA];
  /** The HTTP status as a string, as RFC 7644 demands. */
  readonly status: string;
  readonly scimType?: ScimType;
  readonly detail: string;
}

/** The body of the answer, to be sent as `application/scim+json`. */
export function scimErrorBody({ status, scimType, detail }: ScimError): ScimErrorBody {
  return {
    schemas: [ERROR_SCHEMA],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail,
  };
}

/** RFC 7644 section 8.1. */
export const SCIM_MEDIA_TYPE = "application/scim+json";

/** The body of a failure as text, and its media type, for the routes of SCIM. */
export const scimErrorText = Object.assign(
  (error: unknown): string => JSON.stringify(scimErrorBody(asScimError(error))),
  { mediaType: SCIM_MEDIA_TYPE },
);
