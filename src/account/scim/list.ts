/** Pages of lists (RFC 7644 section 3.4.2.4) and the body of a list. */
import { scimFail } from "./error.ts";

export const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

/** Most resources of one answer; `filter.maxResults` of the service provider's configuration. */
export const MAX_RESULTS = 200;

const DEFAULT_COUNT = 100;

export interface Paging {
  /** The index of the first resource; counted from 1. */
  readonly startIndex: number;
  /** 0 to {@link MAX_RESULTS}; with 0 only the total is asked for. */
  readonly count: number;
}

/**
 * Reads the query parameters; undefined if absent. An index below 1 is 1, a negative count is 0, a large one is cut.
 * @throws ScimError `invalidValue` for anything but an integer
 */
export function readPaging(startIndex: string | undefined, count: string | undefined): Paging {
  return {
    startIndex: Math.max(1, readInteger("startIndex", startIndex) ?? 1),
    count: Math.min(MAX_RESULTS, Math.max(0, readInteger("count", count) ?? DEFAULT_COUNT)),
  };
}

function readInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (!/^[+-]?[0-9]{1,15}$/.test(text)) throw scimFail("invalidValue", `${name} must be an integer.`);
  return Number(text);
}

export interface ListBody<T> {
  readonly schemas: readonly [typeof LIST_SCHEMA];
  readonly totalResults: number;
  readonly startIndex: number;
  readonly itemsPerPage: number;
  /** Empty rather than absent: Entra ID reads it also if nothing matches. */
  readonly Resources: readonly T[];
}

/**
 * @param totalResults all that match, not only those of this page
 * @param resources those of this page
 */
export function listBody<T>(totalResults: number, startIndex: number, resources: readonly T[]): ListBody<T> {
  return {
    schemas: [LIST_SCHEMA],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

const COMMA = Buffer.from(",");

/** {@link listBody} as JSON. @param resources as JSON in UTF-8 */
export function listText(totalResults: number, startIndex: number, resources: readonly Buffer[]): Buffer {
  const body = { ...listBody(totalResults, startIndex, []), itemsPerPage: resources.length };
  const empty = JSON.stringify(body);
  // The list is the last member.
  const [start, end] = [empty.slice(0, -"]}".length), empty.slice(-"]}".length)];
  const parts = resources.flatMap((resource, i) => (i === 0 ? [resource] : [COMMA, resource]));
  return Buffer.concat([Buffer.from(start), ...parts, Buffer.from(end)]);
}
