/**
 * References in schemas for Gemini, which takes JSON Schema as it is but for two things that it answers with status 400: a reference
 * into `definitions`, draft 7's name of `$defs` ("reference to undefined schema"), and a reference with more beside it than a
 * description and a default. https://ai.google.dev/api/generate-content#FIELDS.response_json_schema
 */
import { applyEdits, type Edit } from "../json/json.ts";
import { JsonText } from "../json/json-text.ts";
import { wrappedReference } from "./fit.ts";
import { References } from "./references.ts";
import { keywordOf, mayHave, readingSchema, readSchema, type SchemaNode } from "./schema-tree.ts";
import { TextCache } from "./text-cache.ts";

/** @throws WeirError `invalid_json` where a long string or name in the schema is none */
export function geminiReferences(schema: JsonText): JsonText {
  if (!mayHave(schema, "$ref")) return schema;
  const { text } = schema;
  const edited = EDITED.get(text);
  return edited === text ? schema : new JsonText(edited);
}

const EDITED = new TextCache((text) =>
  readingSchema(() => {
    const root = readSchema(text);
    return root === undefined ? text : applyEdits(text, editsOf(text, root));
  }),
);

const OLD_POINTER = "#/definitions/";

function editsOf(text: string, root: SchemaNode): Edit[] {
  const edits: Edit[] = [];
  const references = new References(text, root);
  const definitions = keywordOf(root, "definitions");
  const renames = definitions !== undefined && keywordOf(root, "$defs") === undefined;
  if (renames) edits.push({ start: definitions.start, end: definitions.keyEnd, text: '"$defs"' });
  const walk = (node: SchemaNode) => {
    const reference = references.of(node);
    if (reference !== undefined) {
      const isOld = renames && reference.startsWith(OLD_POINTER);
      const value = isOld ? JSON.stringify(`#/$defs/${reference.slice(OLD_POINTER.length)}`) : undefined;
      const edit = node === root ? undefined : wrappedReference(text, node, BESIDE_REFERENCE, value);
      if (edit !== undefined) edits.push(edit);
      else if (value !== undefined) edits.push(rewritten(node, value));
    }
    for (const { schemas } of node.members) for (const { node: inner } of schemas) if (inner) walk(inner);
  };
  walk(root);
  return edits;
}

const BESIDE_REFERENCE = /^(?:description|default|\$.*)$/;

function rewritten(node: SchemaNode, text: string): Edit {
  const { valueStart, end } = keywordOf(node, "$ref") as SchemaNode["members"][number];
  return { start: valueStart, end, text };
}
