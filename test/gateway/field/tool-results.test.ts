/** Results of tools that an upstream refuses for what is in them, or for nothing in them. */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Asking, type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

const CALL = { id: "c1", name: "f", arguments: {} };

const resultOf = (text: string, isError = false): Asking => ({
  turns: [
    { user: [{ text: "x" }] },
    { assistant: "", calls: [CALL] },
    { results: [{ id: "c1", text, ...(isError && { isError }) }] },
  ],
});

/** Bytes pass. */
const isSplice = ({ client, dialect }: Exchange): boolean => client === dialect;

const responseOf = ({ up }: Exchange): Json => up.json.contents.at(-1).parts[0].functionResponse.response;

/**
 * Gemini reads a member `$ref` as the name of a medium: "The referenced name `#/$defs/A` in function_response.response does not match
 * to a display_name in the function_response.parts." (twentyhq/twenty#19412, NousResearch/hermes-agent#100441)
 */
const REFERENCES: readonly (readonly [name: string, text: string, isText: boolean])[] = [
  ["a reference", '{"items":{"$ref":"#/$defs/A"}}', true],
  ["a reference at the top", '{ "$ref" : "#" }', true],
  ["a reference in a list", '{"a":[1,{"b":[{"$ref":"x"}]}]}', true],
  ["a reference whose name has escapes", '{"a":{"\\u0024r\\u0065f":"x"}}', true],
  ["a text about references", '{"a":"\\"$ref\\": x","$refs":1}', false],
];

const references = REFERENCES.flatMap(([name, text, isText]) =>
  [false, true].map(
    (isError): Kind => ({
      name: `${name}${isError ? ", of an error" : ""}`,
      ask: resultOf(text, isError),
      // Other formats have no errors of results.
      ...(isError && { clients: ["messages", "generate"] }),
      targets: ["gemini", "gemini-3"],
      check(exchange) {
        const told = isText ? text : JSON.parse(text);
        const plain = isText ? { result: text } : told;
        expect(responseOf(exchange)).toEqual(isError ? { error: told } : plain);
      },
    }),
  ),
);

const EMPTY = ["", " \n"];

/** Some models of Bedrock refuse a result without content (strands-agents/harness-sdk#2122). */
const empty = EMPTY.flatMap((text) =>
  [false, true].map(
    (isError): Kind => ({
      name: `${JSON.stringify(text)}${isError ? ", of an error" : ""}`,
      ask: resultOf(text, isError),
      ...(isError && { clients: ["messages", "generate"] }),
      targets: ["converse", "converse-nova"],
      check({ up }) {
        const { toolResult } = up.json.messages.at(-1).content[0];
        expect(toolResult.content).toEqual([{ json: {} }]);
        expect(toolResult.status).toBe(isError ? "error" : undefined);
      },
    }),
  ),
);

/** "content cannot be empty if `is_error` is true" (bytedance/trae-agent#230). */
const errors = EMPTY.map(
  (text): Kind => ({
    name: `an error of ${JSON.stringify(text)}, to Claude`,
    ask: resultOf(text, true),
    clients: ["messages", "generate"],
    targets: ["messages", "messages-adaptive"],
    check(exchange) {
      if (isSplice(exchange)) return;
      expect(exchange.up.json.messages.at(-1).content).toEqual([
        {
          type: "tool_result",
          tool_use_id: "c1",
          content: [{ type: "text", text: "(empty)" }],
          is_error: true,
        },
      ]);
      expect(exchange.heard.svc.warnings).toEqual([]);
    },
  }),
);

kinds("results with references", references);
kinds("results of nothing", [...empty, ...errors]);
