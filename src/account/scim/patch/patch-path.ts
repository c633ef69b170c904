/**
 * Paths of PATCH operations (PATH of RFC 7644 figure 7): an attribute, its sub-attribute, or a value path.
 */
import type { Attribute, ResourceSchema } from "../attribute.ts";
import { resolvePath, resourceScope, valueScope } from "../filter/attribute-path.ts";
import { type Filter, readValueFilter } from "../filter/filter.ts";
import { FilterWords } from "../filter/filter-words.ts";
import type { Steps } from "../steps.ts";

export interface PatchTarget {
  readonly attribute: Attribute;
  /** Which values of the attribute; all if undefined. */
  readonly filter?: Filter;
  readonly sub?: Attribute;
}

/**
 * @returns undefined for an attribute that this service does not keep
 * @throws ScimError `invalidPath`
 */
export function readPatchPath(text: string, schema: ResourceSchema, steps: Steps): PatchTarget | undefined {
  const words = new FilterWords(text, "invalidPath", steps);
  const { kind, text: name } = words.take();
  if (kind !== "word") throw words.fail("lacks the name of an attribute");
  const path = resolvePath(name, resourceScope(schema), "invalidPath");
  const filter = words.takes("[") ? readValueFilter(words, path) : undefined;
  const after =
    filter !== undefined && words.next.text.startsWith(".") ? words.take().text.slice(1) : undefined;
  if (words.next.kind !== "end") throw words.fail("goes on where it should end");
  const sub =
    after === undefined ? path.sub : resolvePath(after, valueScope(path.attribute), "invalidPath").attribute;
  if (path.attribute === undefined || (after !== undefined && sub === undefined)) return undefined;
  return {
    attribute: path.attribute,
    ...(filter !== undefined && { filter }),
    ...(sub !== undefined && { sub }),
  };
}
