/** What `src/routing/language/policy.schema.json` has to be. The file is there because making it takes an event loop some 50 ms. */
import { z } from "zod";
import { policySchema } from "../../src/routing/language/policy-document.ts";

/** JSON Schema of policy documents, for editors. */
export function policyJsonSchema(): object {
  const schema = z.toJSONSchema(policySchema, { io: "input", target: "draft-7" });
  return { ...schema, title: "Weir routing policy" };
}
