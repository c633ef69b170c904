/** What the reference has entries for: routes by their headings, and events that webhooks send. */
import type { OpenApiDocument, OperationItem } from "../openapi/openapi-types.ts";
import { EVENTS } from "../openapi/tags.ts";

/** In the place of a method: an event is sent, and there is nothing to call. */
export const EVENT = "EVENT";

export interface Entry {
  /** In capitals, or `EVENT`. */
  readonly method: string;
  /** Path of a route, type of an event. */
  readonly path: string;
  readonly item: OperationItem;
}

/** Entries of one heading, in the order of the document. */
export function entriesOf({ paths, webhooks }: OpenApiDocument, group: string): readonly Entry[] {
  if (group === EVENTS)
    return Object.entries(webhooks).map(([path, { post }]) => ({ method: EVENT, path, item: post }));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags[0] === group)
      .map(([method, item]) => ({ method: method.toUpperCase(), path, item })),
  );
}

/** Name of a heading's page: `routing-policies`. */
export const slugOf = (group: string): string => group.toLowerCase().replace(/\W+/g, "-");
