/** Schemas that a provider holds a model to: what is edited, and that nothing else is. */
import { describe, expect, test } from "vitest";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import { fitSchema } from "../../../../src/wire/schema/fit.ts";
import { CLAUDE_RULES, OPENAI_RULES, type SchemaRules } from "../../../../src/wire/schema/rules.ts";

const fit = (text: string, rules: SchemaRules) => {
  const fitted = fitSchema(new JsonText(text), rules);
  if (fitted === undefined) return "unfit";
  const { schema, isTold, isClosed } = fitted;
  return [schema.text, ...(isTold ? ["told"] : []), ...(isClosed ? ["closed"] : [])];
};

test("prints", () => {
  const t = (s: string, r = CLAUDE_RULES) => console.log(fit(s, r));
t('{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":10}},"required":["n"],"additionalProperties":false}');
t('{"type":"object","properties":{"minimum":{"type":"integer","description":"x\\"y","minimum":1e400, "maximum": 9007199254740993}}}');
t('{"type":"object","properties":{"a":{"oneOf":[{"type":"string","format":"uri","pattern":"^(?=a)"},{"const":{"a":1}}]},"b":{"$ref":"#/$defs/B","description":"d"}},"$defs":{"B":{"type":["object","null"],"additionalProperties":{"type":"string"}}}}');
t('{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}');
t('{"type":"object","properties":{"a":{"type":"string"}},"required":[]}', OPENAI_RULES);
t('{"type":"object","properties":{"a":{"type":"string","minLength":1,"format":"uri"}},"required":["a"]}', OPENAI_RULES);
t('{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/A"}]},"b":{"$ref":"#/$defs/A","title":"x"}},"required":["a","b"],"$defs":{"A":{"type":"string"}}}', OPENAI_RULES);
t('{"type":"object" , "not":{}, "if":{"type":"a"} }');
});
